"""The fields of a request, in the order of reading."""

from paraph.kernel.places import expensive_request
from paraph.signature_requests.models import FILLED_BY_SERVICE, Field, Signer

_MANY = 300  # fields and options, which take a tenth of a second and more


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


def is_entered(field: Field) -> bool:
    """Return whether the signer enters the value, and neither the service nor the sender alone sets it."""
    return not field.read_only and field.type not in FILLED_BY_SERVICE


def _place(field: Field) -> tuple[int, int, float, float, int]:
    return field.request_document.position, field.page_number, -field.y - field.height, field.x, field.pk
