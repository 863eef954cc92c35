"""Ending what deleted organizations have under way."""

from contextlib import suppress

from paraph.flow.ending.end_early import end_early
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import RequestStatus, SignatureRequest
from paraph.tenants.models import Organization

REASON = "The organization was deleted."


def end_requests_of_deleted(most: int | None = None) -> int:
    """Ends the pending requests of deleted organizations, at most so many, each in a transaction of its own; returns
    how many. Safe to repeat and to run twice at once."""
    deleted = Organization.objects.filter(deleted_at__isnull=False).values_list("pk", flat=True)
    pending = SignatureRequest.objects.filter(organization__in=list(deleted), status=RequestStatus.PENDING)
    ended = 0
    for request_id in pending.order_by("pk").values_list("pk", flat=True)[:most]:
        with suppress(DomainError):  # it ended meanwhile
            end_early(request_id, REASON)
            ended += 1
    return ended
