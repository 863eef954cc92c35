"""Row locks of the flow. Every transaction takes them in this order: request, signer, code."""

from paraph.database.compiled_query import CompiledQuery
from paraph.signature_requests.models import SignatureRequest, Signer

# With the application, whose URL webhooks go to.
_REQUEST = CompiledQuery(
    lambda: SignatureRequest.objects.select_related("application").select_for_update(no_key=True, of=("self",))
)
# One statement locks both: PostgreSQL locks the tables of a joined row in the order of ``of``.
_SIGNER = CompiledQuery(
    lambda: Signer.objects.select_related("request__application").select_for_update(no_key=True, of=("request", "self"))
)


def lock_request(request_id: int) -> SignatureRequest:
    """Read the request and lock its row until the transaction ends. Whoever changes a request's state or writes to its
    journal holds this lock."""
    return _REQUEST.get(request_id)


def lock_signer(signer_id: int) -> Signer:
    """Read the signer and lock first the request's row, then the signer's, until the transaction ends."""
    return _SIGNER.get(signer_id)
