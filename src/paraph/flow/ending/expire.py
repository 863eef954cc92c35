"""Expiring requests whose time is over (rule 3.1, docs/decisions/locks.md)."""

from collections.abc import Callable, Iterator

from django.db import transaction
from django.db.models import Q

from paraph.flow import events
from paraph.flow.lock import lock_request
from paraph.kernel import clock
from paraph.signature_requests.fields.store import forget_entries
from paraph.signature_requests.models import RequestStatus, SignatureRequest

_AT_ONCE = 200


def expire(request_id: int, *, sandbox_act: bool = False) -> bool:
    """Mark the request ``expired`` if it is pending and its time is over; return whether it did. ``sandbox_act``:
    whether a test ended its time early.

    Takes the same row lock as signing, so that of a signature and an expiry that race only one happens.
    """
    with transaction.atomic():
        request = lock_request(request_id)
        if request.status != RequestStatus.PENDING or clock.now() < request.expires_at:
            return False
        SignatureRequest.objects.filter(pk=request_id).update(status=RequestStatus.EXPIRED)
        request.status = RequestStatus.EXPIRED
        forget_entries(request)
        events.request_expired(request, sandbox_act=sandbox_act)
        return True


def expire_due(stopping: Callable[[], bool] = lambda: False) -> int:
    """Expire every request that is due, oldest first, each in a transaction of its own; return how many.

    Every worker calls this every few seconds, beside its jobs, so that no number of jobs delays it. Where requests
    fail, the others are expired all the same, and the first failure is raised at the end. Ends early once ``stopping``
    says so; the next call does the rest.
    """
    expired, failures = 0, list[Exception]()
    for request_id in _due():
        if stopping():
            break
        try:
            expired += expire(request_id)
        except Exception as error:  # noqa: BLE001  raised below, after the other requests
            failures.append(error)
    if failures:
        raise failures[0]
    return expired


def _due() -> Iterator[int]:
    """Yield due requests in batches, each from where the last one ended, so that requests that fail are met once."""
    pending = SignatureRequest.objects.filter(status=RequestStatus.PENDING, expires_at__lte=clock.now())
    ordered = pending.order_by("expires_at", "pk").values_list("expires_at", "pk")
    batch = list(ordered[:_AT_ONCE])
    while batch:
        yield from (request_id for _, request_id in batch)
        end, last = batch[-1]
        later = Q(expires_at=end, pk__gt=last) | Q(expires_at__gt=end)
        batch = list(ordered.filter(later, expires_at__gte=end)[:_AT_ONCE])
