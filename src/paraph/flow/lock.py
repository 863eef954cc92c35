"""Row locks of the flow, always taken in this order: request, signer, code."""

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
