"""What the proof states of the fields that signers filled in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paraph import words as catalog
from paraph.audit_trail.models import Entry, EventType
from paraph.pdf.typesetting.proof_content import ProofField
from paraph.signature_requests.fields.kinds import shown_text
from paraph.signature_requests.fields.readers import Value
from paraph.signature_requests.fields.store import facts_of, fields_of
from paraph.signature_requests.models import Field, SignatureRequest


@dataclass(frozen=True)
class FilledIn:
    """A field and its value as the journal has it. ``document``: the name of its document; ``text``: the value as it
    is printed, of a checkbox in a word."""

    field: Field
    document: str
    value: Value | None
    text: str

    def printed(self) -> ProofField:
        return ProofField(self.document, self.field.label, self.text)

    def evidence(self) -> dict[str, Any]:
        """Return what evidence.json has of it. ``printed`` is what ``paraph verify`` looks for on the pages."""
        return facts_of(self.field) | {"label": self.field.label, "value": self.value, "printed": self.text}


def filled_in(
    request: SignatureRequest, journal: Sequence[Entry], documents: Mapping[int, str]
) -> dict[int, list[FilledIn]]:
    """Return the fields of each signer (by id) who has some, in the order of the journal. ``documents``: names by
    id."""
    signed = {
        entry.signer_id: entry.metadata["fields"]
        for entry in journal
        if entry.signer_id and entry.event_type == EventType.SIGNED and entry.metadata.get("fields")
    }
    if not signed:
        return {}
    known = {(row.signer_id, row.request_document.document_id, row.name): row for row in fields_of(request.pk)}
    return {
        signer_id: [
            _filled(known[signer_id, each["document_id"], each["name"]], each["value"], documents, request.locale)
            for each in entered
        ]
        for signer_id, entered in signed.items()
    }


def _filled(field: Field, value: Value | None, documents: Mapping[int, str], locale: str) -> FilledIn:
    if isinstance(value, bool):
        text = str(catalog.of("proof", locale)["ticked" if value else "unticked"])
    else:
        text = shown_text(field, value, locale)
    return FilledIn(field, documents[field.request_document.document_id], value, text)
