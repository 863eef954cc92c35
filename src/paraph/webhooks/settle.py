"""Writing down how attempts ended."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import structlog
from django.db import transaction

from paraph.outbound.post import Answer
from paraph.webhooks.models import Attempt, Delivery, DeliveryStatus
from paraph.webhooks.retries import next_attempt

_log = structlog.get_logger(__name__)


def settle(attempts: Sequence[tuple[UUID, Answer]], now: datetime) -> None:
    """Ends each attempt, and its delivery or the wait for the next attempt, in one transaction.

    Repeating it does nothing: what ends an attempt is that it is its delivery's open one.
    """
    answers = dict(attempts)
    with transaction.atomic():
        open_ones = Delivery.objects.select_for_update(no_key=True, of=("self",)).filter(open_attempt__in=answers)
        for delivery in open_ones.order_by("pk"):
            if delivery.open_attempt is not None:  # never None after the filter
                _settle(delivery, delivery.open_attempt, answers[delivery.open_attempt], now)


def _settle(delivery: Delivery, attempt_id: UUID, answer: Answer, now: datetime) -> None:
    Attempt.objects.filter(pk=attempt_id).update(
        duration_ms=round(answer.seconds * 1000),
        status_code=answer.status,
        response=answer.body.decode(errors="replace").replace("\0", "�"),  # PostgreSQL's text holds no NUL
        error=answer.error,
    )
    again = None
    if not answer.accepted:
        delivery.failures += 1
        again = next_attempt(delivery.failures, now)
    if again is not None:
        delivery.status, delivery.due_at = DeliveryStatus.WAITING, again
    else:
        delivery.status = DeliveryStatus.DELIVERED if answer.accepted else DeliveryStatus.FAILED
        delivery.finished_at = now
    delivery.open_attempt = None
    delivery.save(update_fields=["failures", "status", "due_at", "finished_at", "open_attempt"])
    if delivery.status == DeliveryStatus.FAILED:  # the one line that an endpoint's failing costs the log
        _log.warning(
            "webhook delivery failed",
            delivery=delivery.pk,
            signature_request=delivery.request_id,
            webhook_event=delivery.event_type,
            cause=answer.error or f"HTTP {answer.status}",
        )
