"""Recording the outcomes of attempts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import structlog

from paraph.database.base import planned
from paraph.metrics import metrics
from paraph.outbound.exchange import PostResult
from paraph.webhooks.models import DeliveryStatus

DELAYS = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=25), timedelta(hours=2), timedelta(hours=10))


def next_attempt(failures: int, failed_at: datetime) -> datetime | None:
    """Return the time of the next attempt after the ``failures``-th failure (from 1), None after the last."""
    return failed_at + DELAYS[failures - 1] if failures <= len(DELAYS) else None


_log = structlog.get_logger(__name__)
_RESULTS: dict[str, str] = {  # as they are counted
    DeliveryStatus.DELIVERED: "delivered",
    DeliveryStatus.WAITING: "retried",
    DeliveryStatus.FAILED: "failed",
}

# Found by the attempts' key, as deliveries have no index of their open attempts.
_OPEN = """
    SELECT delivery.id, delivery.failures, delivery.due_at, attempt.id, delivery.request_id, delivery.event_type,
        delivery.trace
    FROM webhooks_attempt AS attempt
    JOIN webhooks_delivery AS delivery ON delivery.id = attempt.delivery_id AND delivery.open_attempt = attempt.id
    WHERE attempt.id = ANY(%s) ORDER BY delivery.id
"""
# Nothing is written where another process has recorded the outcome or replayed the delivery meanwhile.
_RECORD = """
    WITH settled AS (
        UPDATE webhooks_delivery AS delivery
        SET status = ended.status, failures = ended.failures, due_at = ended.due_at, finished_at = ended.finished_at,
            claimed_at = NULL, open_attempt = NULL
        FROM unnest(%s::bigint[], %s::uuid[], %s::smallint[],
                %s::text[], %s::smallint[], %s::timestamptz[], %s::timestamptz[],
                %s::int[], %s::smallint[], %s::text[], %s::text[])
            AS ended (delivery_id, attempt_id, failures_before,
                status, failures, due_at, finished_at,
                duration_ms, status_code, response, error)
        WHERE delivery.id = ended.delivery_id AND delivery.open_attempt = ended.attempt_id
            AND delivery.failures = ended.failures_before
        RETURNING ended.*
    ), written AS (
        UPDATE webhooks_attempt AS attempt
        SET duration_ms = settled.duration_ms, status_code = settled.status_code,
            response = settled.response, error = settled.error
        FROM settled WHERE attempt.id = settled.attempt_id
    )
    SELECT attempt_id FROM settled
"""


class _OpenAttempt(NamedTuple):
    """A delivery whose attempt has ended; fields in the order of the statement's columns."""

    id: int
    failures: int
    due_at: datetime
    attempt_id: UUID
    request_id: int | None
    event_type: str
    trace: str


class _Outcome(NamedTuple):
    """The new state of a delivery and its attempt; fields in the order of the statement's columns."""

    delivery_id: int
    attempt_id: UUID
    failures_before: int
    status: str
    failures: int
    due_at: datetime
    finished_at: datetime | None
    duration_ms: int
    status_code: int | None
    response: str
    error: str


def record_outcomes(attempts: Sequence[tuple[UUID, PostResult]], now: datetime) -> None:
    """Record the answer to each attempt, and finish its delivery or schedule the next attempt, in one statement.

    Safe to repeat: only the open attempt of a delivery is recorded.
    """
    answers = dict(attempts)
    found = {each.attempt_id: each for each in map(_OpenAttempt._make, planned(_OPEN, [list(answers)]))}
    outcomes = [_outcome(delivery, answers[attempt_id], now) for attempt_id, delivery in found.items()]
    if not outcomes:
        return
    columns = [list(column) for column in zip(*outcomes, strict=True)]
    settled = {attempt_id for (attempt_id,) in planned(_RECORD, columns)}
    for outcome in outcomes:
        if outcome.attempt_id in settled:
            _report(found[outcome.attempt_id], answers[outcome.attempt_id], outcome)


def _outcome(delivery: _OpenAttempt, answer: PostResult, now: datetime) -> _Outcome:
    status, failures, due_at = DeliveryStatus.DELIVERED, delivery.failures, delivery.due_at
    if not answer.accepted:
        failures += 1
        again = next_attempt(failures, now)
        status, due_at = (DeliveryStatus.WAITING, again) if again else (DeliveryStatus.FAILED, due_at)
    return _Outcome(
        delivery.id,
        delivery.attempt_id,
        delivery.failures,
        status.value,
        failures,
        due_at,
        None if status == DeliveryStatus.WAITING else now,
        round(answer.seconds * 1000),
        answer.status,
        _storable(answer.body),
        _storable(answer.error.encode(errors="replace")),
    )


def _storable(content: bytes) -> str:
    """Return any bytes as text that PostgreSQL can store: UTF-8 without NUL."""
    return content.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _report(delivery: _OpenAttempt, answer: PostResult, outcome: _Outcome) -> None:
    """Count and log an outcome. A failure that is tried again is not logged, so that an endpoint that fails costs one
    line for each delivery."""
    facts: dict[str, Any] = {"delivery": delivery.id, "webhook_event": delivery.event_type}
    facts |= {"signature_request": delivery.request_id} if delivery.request_id else {}
    facts |= {"request_id": delivery.trace} if delivery.trace else {}
    metrics.webhooks.inc(delivery.event_type, _RESULTS[outcome.status])
    if outcome.status == DeliveryStatus.DELIVERED:
        _log.info("webhook delivered", **facts, status=answer.status, seconds=round(answer.seconds, 3))
    elif outcome.status == DeliveryStatus.FAILED:
        _log.warning("webhook delivery failed", **facts, cause=answer.error or f"HTTP {answer.status}")
