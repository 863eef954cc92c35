"""Row locks of the flow. Every transaction takes them in this order: request, signer, code."""

from paraph.database.joined import Joined
from paraph.signature_requests.models import SignatureRequest, Signer

_REQUEST = Joined(SignatureRequest, "application", end='WHERE "self"."id" = %s FOR NO KEY UPDATE OF "self"')
# PostgreSQL locks the tables of a joined row in the order in which they are named here.
_SIGNER = Joined(
    Signer, "request", "request__application", end='WHERE "self"."id" = %s FOR NO KEY UPDATE OF "request", "self"'
)


def lock_request(request_id: int) -> SignatureRequest:
    """Read the request and lock its row until the transaction ends. Whoever changes a request's state or writes to its
    journal holds this lock. Its application, whose URL webhooks go to, is read along."""
    return _REQUEST.get(request_id)


def lock_signer(signer_id: int) -> Signer:
    """Read the signer and lock first the request's row, then the signer's, until the transaction ends."""
    return _SIGNER.get(signer_id)
