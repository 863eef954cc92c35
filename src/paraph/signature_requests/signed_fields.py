"""The fields of requests with the values that were signed, for those who look at requests as a whole."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any, NamedTuple

from paraph.signature_requests.field_values import Value, values_of
from paraph.signature_requests.models import Field, Signer, SignerStatus


class SignedField(NamedTuple):
    """``value``: None until its signer has signed, for what was left empty, and once the signer is erased."""

    field: Field
    value: Value | None

    def facts(self) -> dict[str, Any]:
        return {
            "document_id": self.field.request_document.document_id,
            "name": self.field.name,
            "type": self.field.type,
            "label": self.field.label,
            "value": self.value,
        }


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
