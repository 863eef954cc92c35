"""Row locks of the flow, always taken in this order: request, signer, code."""

from paraph.database.compiled_query import CompiledQuery
from paraph.signature_requests.models import SignatureRequest, Signer

# Beside the request its application, which says where webhooks go.
_REQUEST = CompiledQuery(
    lambda: SignatureRequest.objects.select_related("application").select_for_update(no_key=True, of=("self",))
)
# One statement for both: PostgreSQL locks the tables of a row in the order in which they are named here.
_SIGNER = CompiledQuery(
    lambda: Signer.objects.select_related("request__application").select_for_update(no_key=True, of=("request", "self"))
)


def lock_request(request_id: int) -> SignatureRequest:
    """The request as it stands now, kept so until the transaction ends. Whoever changes a request's state or
    writes to its journal holds this."""
    return _REQUEST.get(request_id)


def lock_signer(signer_id: int) -> Signer:
    """The signer as they stand now, kept so until the transaction ends, with the request locked before them."""
    return _SIGNER.get(signer_id)
