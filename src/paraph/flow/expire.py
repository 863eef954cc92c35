"""Requests whose time is over (specification 3.1)."""

from django.db import transaction

from paraph.flow import events
from paraph.flow.lock import lock_request
from paraph.kernel import clock
from paraph.signature_requests.models import RequestStatus, SignatureRequest


def expire(request_id: int) -> bool:
    """Marks the request ``expired`` if it is pending and its time is over; tells whether it did.

    Under the same row lock as a signature, so that the two racing each other end in exactly one.
    """
    with transaction.atomic():
        request = lock_request(request_id)
        if request.status != RequestStatus.PENDING or clock.now() < request.expires_at:
            return False
        SignatureRequest.objects.filter(pk=request_id).update(status=RequestStatus.EXPIRED)
        request.status = RequestStatus.EXPIRED
        events.request_expired(request)
        return True


def expire_due() -> int:
    """Expires every request that is due, oldest first, each in a transaction of its own; returns how many.

    Run every few seconds by every worker, beside its jobs, since no number of those may hold it up: a look at one
    small index, instead of one waiting job for each pending request. One that fails does not keep those after it
    waiting; the first failure is raised at the end.
    """
    expired, failed = 0, list[Exception]()
    for request_id in _due():
        try:
            expired += expire(request_id)
        except Exception as error:  # noqa: BLE001  raised below, after the others had their turn
            failed.append(error)
    if failed:
        raise failed[0]
    return expired


def _due() -> list[int]:
    pending = SignatureRequest.objects.filter(status=RequestStatus.PENDING, expires_at__lte=clock.now())
    return list(pending.order_by("expires_at").values_list("pk", flat=True))
