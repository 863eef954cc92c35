"""Deliveries of all organizations: what operators see of them, which they send again, and which are deleted in time."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from paraph.audit_trail.models import EventType
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.models import Application
from paraph.tenants.scope import existing
from paraph.webhooks.models import FINISHED, Attempt, Delivery, DeliveryStatus, Destination

CAUGHT_KEPT = 200  # by application
_BATCH = 1000


def oldest_due_seconds() -> float:
    """Return for how long the oldest due delivery has been due, 0 when none is. A delivery that waits for its retry is
    not due."""
    due = Delivery.objects.filter(status=DeliveryStatus.WAITING, claimed_at=None, due_at__lte=clock.now())
    oldest = due.aggregate(oldest=Min("due_at"))["oldest"]
    return (clock.now() - oldest).total_seconds() if oldest else 0.0


def latest_deliveries(*, failed_only: bool, limit: int, request_id: int | None = None) -> list[dict[str, Any]]:
    """Return the latest deliveries (of one request, if given), newest first, with the outcome of their last attempt.
    Caught deliveries are on their way to nobody, and are left out."""
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


def with_outcome(rows: QuerySet[Delivery]) -> QuerySet[Any]:
    """Return the deliveries with ``attempts_made``, and ``last_attempt_at``, ``last_status`` and ``last_error`` of the
    last attempt."""
    attempts = Attempt.objects.filter(delivery=OuterRef("pk"))
    last = attempts.order_by("-started_at")
    return rows.annotate(
        attempts_made=Coalesce(Subquery(attempts.values("delivery").annotate(n=Count("pk")).values("n")), 0),
        last_attempt_at=Subquery(last.values("started_at")[:1]),
        last_status=Subquery(last.values("status_code")[:1]),
        last_error=Subquery(last.values("error")[:1]),
    )


def replay_delivery(delivery_id: int, application: Application | None = None) -> int:
    """Send one delivery again, or at once if it waits for a retry. Return 1, or 0 while it is being sent. With an
    ``application``, the deliveries of others are as if they did not exist.

    Raise ``DomainError``: ``not_found`` for an unknown id, ``conflict`` while its PDFs are not sealed, or once they are
    deleted, and for a caught delivery.
    """
    chosen = Delivery.objects.filter(pk=delivery_id)
    if application is not None:
        chosen = chosen.filter(application=application)
    delivery = existing(chosen, f"There is no delivery {delivery_id}.")
    if delivery.destination == Destination.CATCHER:
        raise DomainError("conflict", f"Delivery {delivery_id} was caught: its application had no webhook URL.")
    if delivery.status == DeliveryStatus.HELD:
        raise DomainError("conflict", f"Delivery {delivery_id} is held until the request's PDFs are sealed.")
    if _without_files(chosen).exists():
        raise DomainError("conflict", f"Delivery {delivery_id} would link to files that are deleted.")
    return _replay(chosen.filter(status__in=[*FINISHED, DeliveryStatus.WAITING], claimed_at=None))


def replay_request(request_id: int) -> int:
    """Send every delivery of a request again that was delivered or has failed; return how many.

    Raise ``DomainError("not_found", …)`` where the request has no delivery.
    """
    chosen = Delivery.objects.filter(request=request_id).exclude(destination=Destination.CATCHER)
    if not chosen.exists():
        raise DomainError("not_found", f"Request {request_id} has no deliveries.")
    return _replay(chosen.filter(status__in=FINISHED))


def replay_since(moment: datetime, *, delivered_too: bool = False) -> int:
    """Send the failed deliveries of events since ``moment`` again, and with ``delivered_too`` the delivered ones (for a
    receiver that lost its data); return how many."""
    statuses = FINISHED if delivered_too else [DeliveryStatus.FAILED]
    return _replay(Delivery.objects.filter(occurred_at__gte=moment, status__in=statuses))


def _replay(chosen: QuerySet[Delivery]) -> int:
    """Start the retries anew, except of deliveries that would link to deleted files. Earlier attempts stay on record
    until the delivery is pruned."""
    sent = chosen.exclude(pk__in=_without_files(chosen).values("pk"))
    return sent.update(status=DeliveryStatus.WAITING, failures=0, due_at=clock.now(), finished_at=None)


def _without_files(chosen: QuerySet[Delivery]) -> QuerySet[Delivery]:
    return chosen.filter(event_type=EventType.COMPLETED, request__files_deleted_at__isnull=False)


def prune(retention_days: int, now: datetime) -> int:
    """Delete deliveries that ended more than ``retention_days`` ago, and of the caught ones all but the newest
    :data:`CAUGHT_KEPT` of each application, in batches with a transaction each; return how many."""
    pruned = _delete(Delivery.objects.filter(finished_at__lt=now - timedelta(days=retention_days)), "finished_at")
    caught = Delivery.objects.filter(status=DeliveryStatus.CAUGHT)
    for application in Application.objects.filter(pk__in=caught.values("application")):
        mine = caught.filter(application=application)
        newest_beyond = mine.order_by("-pk").values_list("pk", flat=True)[CAUGHT_KEPT : CAUGHT_KEPT + 1]
        for last in list(newest_beyond):
            pruned += _delete(mine.filter(pk__lte=last), "pk")
    return pruned


def _delete(chosen: QuerySet[Delivery], order: str) -> int:
    deleted = 0
    while batch := list(chosen.order_by(order).values_list("pk", flat=True)[:_BATCH]):
        deleted += Delivery.objects.filter(pk__in=batch).delete()[1].get("webhooks.Delivery", 0)
    return deleted
