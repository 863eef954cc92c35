"""Writing down how attempts ended."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import structlog
from django.db import transaction

from paraph.measures.figures import count_webhook
from paraph.outbound.post import Answer
from paraph.rows.prepared import prepared_cursor
from paraph.webhooks.models import DeliveryStatus
from paraph.webhooks.retries import next_attempt

_log = structlog.get_logger(__name__)

# By the attempts' key: deliveries have no index of their open attempts.
_OPEN = """
    SELECT delivery.id, delivery.failures, delivery.due_at, attempt.id, delivery.request_id, delivery.event_type,
        delivery.trace
    FROM webhooks_attempt AS attempt
    JOIN webhooks_delivery AS delivery ON delivery.id = attempt.delivery_id AND delivery.open_attempt = attempt.id
    WHERE attempt.id = ANY(%s) ORDER BY delivery.id FOR NO KEY UPDATE OF delivery
"""
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


class _Open(NamedTuple):
    """A delivery whose attempt has ended, in the order of the statement's columns."""

    id: int
    failures: int
    due_at: datetime
    attempt_id: UUID
    request_id: int
    event_type: str
    trace: str


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
    with transaction.atomic(), prepared_cursor() as cursor:
        cursor.execute(_OPEN, [list(answers)])
        for delivery in map(_Open._make, cursor.fetchall()):
            answer = answers[delivery.attempt_id]
            ended.append(_ended(delivery.attempt_id, answer))
            settled.append(_judge(delivery, answer, now))
        if settled:
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


def _judge(delivery: _Open, answer: Answer, now: datetime) -> _Settled:
    facts = {"delivery": delivery.id, "signature_request": delivery.request_id, "webhook_event": delivery.event_type}
    facts |= {"request_id": delivery.trace} if delivery.trace else {}
    if answer.accepted:
        count_webhook(delivery.event_type, "delivered")
        _log.info("webhook delivered", **facts, status=answer.status, seconds=round(answer.seconds, 3))
        return _Settled(delivery.id, DeliveryStatus.DELIVERED.value, delivery.failures, delivery.due_at, now)
    failures = delivery.failures + 1
    again = next_attempt(failures, now)
    count_webhook(delivery.event_type, "failed" if again is None else "retried")
    if again is not None:
        return _Settled(delivery.id, DeliveryStatus.WAITING.value, failures, again, None)
    _log.warning(  # the one line that an endpoint's failing costs the log
        "webhook delivery failed",
        **facts,
        cause=answer.error or f"HTTP {answer.status}",
    )
    return _Settled(delivery.id, DeliveryStatus.FAILED.value, failures, delivery.due_at, now)


def _columns(rows: Sequence[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]
