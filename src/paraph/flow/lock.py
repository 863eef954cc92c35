"""Row and work locks of the flow, always taken in this order: work, request, signer, code."""

from django.db import connection

from paraph.signature_requests.models import SignatureRequest, Signer


def lock_request(request_id: int) -> SignatureRequest:
    """The request as it stands now, kept so until the transaction ends. Whoever changes a request's state or
    writes to its journal holds this."""
    return SignatureRequest.objects.select_for_update(no_key=True).get(pk=request_id)


def lock_signer(known: Signer) -> Signer:
    """The signer as they stand now, kept so until the transaction ends, with the request locked before them."""
    request = lock_request(known.request_id)
    signer = Signer.objects.select_for_update(no_key=True).get(pk=known.pk)
    signer.request = request
    return signer


def alone(work: str, row_id: int) -> None:
    """Waits until no other transaction does this work for this row, then keeps others waiting until it ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), %s)", [work, row_id % 2**31])
