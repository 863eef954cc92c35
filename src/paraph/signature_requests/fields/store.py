"""The fields of requests, and the values that signers enter into them: encrypted for one signer alone, so that no other
row can hold them.

Before the signature these are values as they were entered, so that nothing is lost; with it, what was signed.
"""

import json
from collections import defaultdict
from collections.abc import Collection
from typing import Any, NamedTuple

from django.conf import settings

from paraph.kernel.places import expensive_request
from paraph.signature_requests.fields.kinds import Value
from paraph.signature_requests.models import Field, SignatureRequest, Signer, SignerStatus

PURPOSE = "fields"

Values = dict[int, Value]
"""Values by the id of their field."""

_MANY = 300  # fields and options, which take a tenth of a second and more


def values_of(signer: Signer) -> Values:
    """Return what the signer entered, or signed; empty where there is nothing."""
    return {} if signer.fields_encrypted is None else decrypted(signer.pk, bytes(signer.fields_encrypted))


def decrypted(signer_id: int, encrypted: bytes) -> Values:
    """Return the values that the row of a signer holds."""
    content = settings.SECRETS.decrypt(PURPOSE, encrypted, context(signer_id))
    return {int(field_id): value for field_id, value in json.loads(content).items()}


def write(signer: Signer, values: Values) -> None:
    """Set ``fields_encrypted``, None for no values. Does not save the row."""
    content = json.dumps(values, separators=(",", ":")).encode()
    signer.fields_encrypted = settings.SECRETS.encrypt(PURPOSE, content, context(signer.pk)) if values else None


def context(signer_id: int) -> bytes:
    """Return what the values of a signer are encrypted for."""
    return f"fields of signer {signer_id}".encode()


def forget_entries(request: SignatureRequest) -> None:
    """Forget what signers entered into a request that ends before they signed. The caller ends it in the same
    transaction, under its row lock."""
    unsigned = Signer.objects.filter(request=request, fields_encrypted__isnull=False).exclude(
        status=SignerStatus.SIGNED
    )
    unsigned.update(fields_encrypted=None)


def fields_of(request_id: int) -> list[Field]:
    """Return the fields of all signers, by document and page, on each from its top, with ``request_document``. Where
    they are many, whatever a web process does with them is expensive work (:mod:`paraph.kernel.places`)."""
    rows = Field.objects.select_related("request_document").filter(request_document__request=request_id)
    if sum(1 + len(field.options or ()) for field in rows) > _MANY:
        expensive_request()
    return sorted(rows, key=_place)


def own_fields(signer: Signer) -> list[Field]:
    """Return those of one signer."""
    some = fields_of(signer.request_id) if signer.request.has_fields else ()
    return [field for field in some if field.signer_id == signer.pk]


def _place(field: Field) -> tuple[int, int, float, float, int]:
    return field.request_document.position, field.page_number, -field.y - field.height, field.x, field.pk


def facts_of(field: Field) -> dict[str, Any]:
    """Return what journal, evidence and answers call a field by."""
    return {"document_id": field.request_document.document_id, "name": field.name, "type": field.type}


class SignedField(NamedTuple):
    """``value``: None until its signer has signed, for what was left empty, and once the signer is erased."""

    field: Field
    value: Value | None

    def facts(self) -> dict[str, Any]:
        return facts_of(self.field) | {"label": self.field.label, "value": self.value}


def signed_fields(request_ids: Collection[int]) -> dict[int, list[SignedField]]:
    """Return the fields of each request (by id) in the order of the payload; none of one without fields."""
    rows = Field.objects.filter(request_document__request__in=request_ids).select_related("request_document")
    fields = list(rows.order_by("request_document__position", "signer__order", "position"))
    signers = Signer.objects.filter(pk__in={field.signer_id for field in fields}, status=SignerStatus.SIGNED)
    values = {signer.pk: values_of(signer) for signer in signers.only("fields_encrypted")}
    found: dict[int, list[SignedField]] = defaultdict(list)
    for field in fields:
        value = values.get(field.signer_id, {}).get(field.pk)
        found[field.request_document.request_id].append(SignedField(field, value))
    return found
