"""Row locks of the flow. Every transaction takes them in this order: request, signer, code."""

from paraph.signature_requests.models import SignatureRequest, Signer


def lock_request(request_id: int) -> SignatureRequest:
    """Read the request and lock its row until the transaction ends. Whoever changes a request's state or writes to its
    journal holds this lock. Its application, whose URL webhooks go to, is read along."""
    locked = SignatureRequest.objects.select_for_update(no_key=True, of=("self",))
    return locked.select_related("application").get(pk=request_id)


def lock_signer(signer_id: int) -> Signer:
    """Read the signer and lock first the request's row, then the signer's, until the transaction ends."""
    # One statement locks both: PostgreSQL locks the tables of a joined row in the order of ``of``.
    locked = Signer.objects.select_for_update(no_key=True, of=("request", "self"))
    return locked.select_related("request__application").get(pk=signer_id)
