"""Writing down how attempts ended."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast
from uuid import UUID

import structlog
from django.db import connection, transaction

from paraph.measures.figures import count_webhook
from paraph.outbound.post import Answer
from paraph.webhooks.models import Delivery, DeliveryStatus
from paraph.webhooks.retries import next_attempt

_log = structlog.get_logger(__name__)

_ATTEMPTS = """
    UPDATE webhooks_attempt AS attempt
    SET duration_ms = ended.duration_ms, status_code = ended.status_code,
        response = ended.response, error = ended.error
    FROM unnest(%s::uuid[], %s::int[], %s::smallint[], %s::text[], %s::text[])
        AS ended (id, duration_ms, status_code, response, error)
    WHERE attempt.id = ended.id
"""
_DELIVERIES = """
    UPDATE webhooks_delivery AS delivery
    SET status = settled.status, failures = settled.failures, due_at = settled.due_at,
        finished_at = settled.finished_at, open_attempt = NULL
    FROM unnest(%s::bigint[], %s::text[], %s::smallint[], %s::timestamptz[], %s::timestamptz[])
        AS settled (id, status, failures, due_at, finished_at)
    WHERE delivery.id = settled.id
"""


class _Ended(NamedTuple):
    """An attempt, in the order of the statement's columns."""

    id: UUID
    duration_ms: int
    status_code: int | None
    response: str
    error: str


class _Settled(NamedTuple):
    """What becomes of a delivery, in the order of the statement's columns."""

    id: int
    status: str
    failures: int
    due_at: datetime
    finished_at: datetime | None


def settle(attempts: Sequence[tuple[UUID, Answer]], now: datetime) -> None:
    """Ends each attempt, and its delivery or the wait for the next attempt, in one transaction of three statements.

    Repeating it does nothing: what ends an attempt is that it is its delivery's open one.
    """
    answers = dict(attempts)
    ended, settled = [], []
    with transaction.atomic():
        open_ones = Delivery.objects.select_for_update(no_key=True).filter(open_attempt__in=answers).order_by("pk")
        for delivery in open_ones.only("failures", "due_at", "open_attempt", "request_id", "event_type", "trace"):
            attempt_id = cast("UUID", delivery.open_attempt)  # never None after the filter
            ended.append(_ended(attempt_id, answers[attempt_id]))
            settled.append(_judge(delivery, answers[attempt_id], now))
        if settled:
            with connection.cursor() as cursor:
                cursor.execute(_ATTEMPTS, _columns(ended))
                cursor.execute(_DELIVERIES, _columns(settled))


def _ended(attempt_id: UUID, answer: Answer) -> _Ended:
    milliseconds = round(answer.seconds * 1000)
    return _Ended(
        attempt_id,
        milliseconds,
        answer.status,
        _storable(answer.body),
        _storable(answer.error.encode(errors="replace")),
    )


def _storable(content: bytes) -> str:
    """PostgreSQL's text holds UTF-8 without NUL; what others send us may be anything."""
    return content.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _judge(delivery: Delivery, answer: Answer, now: datetime) -> _Settled:
    facts = {"delivery": delivery.pk, "signature_request": delivery.request_id, "webhook_event": delivery.event_type}
    facts |= {"request_id": delivery.trace} if delivery.trace else {}
    if answer.accepted:
        count_webhook(delivery.event_type, "delivered")
        _log.info("webhook delivered", **facts, status=answer.status, seconds=round(answer.seconds, 3))
        return _Settled(delivery.pk, DeliveryStatus.DELIVERED.value, delivery.failures, delivery.due_at, now)
    failures = delivery.failures + 1
    again = next_attempt(failures, now)
    count_webhook(delivery.event_type, "failed" if again is None else "retried")
    if again is not None:
        return _Settled(delivery.pk, DeliveryStatus.WAITING.value, failures, again, None)
    _log.warning(  # the one line that an endpoint's failing costs the log
        "webhook delivery failed",
        **facts,
        cause=answer.error or f"HTTP {answer.status}",
    )
    return _Settled(delivery.pk, DeliveryStatus.FAILED.value, failures, delivery.due_at, now)


def _columns(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]
