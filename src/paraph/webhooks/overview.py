"""What operators see of deliveries."""

from typing import Any

from django.db.models import Min

from paraph.kernel import clock
from paraph.webhooks.deliveries import with_outcome
from paraph.webhooks.models import Delivery, DeliveryStatus, Destination


def oldest_due_seconds() -> float:
    """Return for how long the oldest due delivery has been due, 0 when none is. A delivery that waits for its retry is
    not due."""
    due = Delivery.objects.filter(status=DeliveryStatus.WAITING, claimed_at=None, due_at__lte=clock.now())
    oldest = due.aggregate(oldest=Min("due_at"))["oldest"]
    return (clock.now() - oldest).total_seconds() if oldest else 0.0


def deliveries(*, failed_only: bool, limit: int, request_id: int | None = None) -> list[dict[str, Any]]:
    """Return the latest deliveries (of one request, if given), newest first, with the outcome of their last attempt.
    What was caught is on its way to nobody and not among them."""
    rows = with_outcome(Delivery.objects.exclude(destination=Destination.CATCHER))
    if failed_only:
        rows = rows.filter(status=DeliveryStatus.FAILED)
    if request_id is not None:
        rows = rows.filter(request=request_id)
    return [_shown(row) for row in rows.order_by("-pk")[:limit]]


def _shown(row: Any) -> dict[str, Any]:
    waiting = row.status == DeliveryStatus.WAITING
    return {
        "id": row.pk,
        "request_id": row.request_id,
        "event": row.event_type,
        "occurred_at": clock.iso(row.occurred_at),
        "url": row.url,
        "destination": row.destination,
        "status": row.status,
        "attempts": row.attempts_made,
        "last_attempt_at": clock.iso(row.last_attempt_at) if row.last_attempt_at else None,
        "last_status": row.last_status,
        "last_error": row.last_error or "",
        "next_attempt_at": clock.iso(row.due_at) if waiting else None,
    }
