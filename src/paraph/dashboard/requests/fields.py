"""The fields of a request with what was signed, as its page shows them."""

from itertools import groupby
from typing import Any

from django.utils.translation import get_language

from paraph import words
from paraph.signature_requests.fields.kinds import shown_text
from paraph.signature_requests.fields.store import SignedField, signed_fields
from paraph.signature_requests.models import ERASED_DOMAIN, RequestDocument, SignatureRequest, Signer, SignerStatus


def fields_of_page(
    found: SignatureRequest, signers: list[Signer], documents: list[RequestDocument]
) -> dict[str, Any] | None:
    """Return a heading and the fields by signer and document; None where there are none. The words are the proof's."""
    fields = signed_fields([found.pk])[found.pk]
    if not fields:
        return None
    said = words.of("proof", get_language() or "en")
    people = {signer.pk: signer for signer in signers}
    names = {row.pk: row.document.name for row in documents}
    groups = [
        {
            "signer": people[signer_id].full_name,
            "document": names[document_id],
            "rows": [
                {"label": each.field.label, "text": _text(each, people[signer_id], found, said)} for each in of_both
            ],
        }
        for (document_id, signer_id), of_both in groupby(fields, _owner)
    ]
    return {"heading": said["fields"], "groups": groups}


def _owner(each: SignedField) -> tuple[int, int]:
    return each.field.request_document_id, each.field.signer_id


def _text(each: SignedField, signer: Signer, found: SignatureRequest, said: words.Words) -> str:
    if isinstance(each.value, bool):
        return str(said["ticked" if each.value else "unticked"])
    if each.value is None:
        is_gone = found.files_deleted_at or signer.email.endswith(ERASED_DOMAIN)  # nobody knows what was left empty
        return str(said["left_empty"]) if signer.status == SignerStatus.SIGNED and not is_gone else ""
    return shown_text(each.field, each.value, found.locale)
