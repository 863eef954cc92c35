"""The table of deliveries as the queue of the workers: what is due is claimed, so that no two workers send the same
one, and the outcomes of attempts are recorded."""

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import structlog

from paraph.database.base import planned
from paraph.metrics import metrics
from paraph.outbound.exchange import PostResult
from paraph.webhooks.models import DeliveryStatus

AT_ONCE = 16
AT_ONCE_IN_TROUBLE = 8


@dataclass(frozen=True)
class EndpointLoad:
    """The load of an endpoint: ``due`` deliveries wait, ``sending`` are under way. An endpoint is in ``trouble`` while
    a delivery to it has failed and is not delivered yet."""

    endpoint: str
    due: int
    sending: int
    trouble: bool

    @property
    def application(self) -> str:
        """The id of the application, with which the name of the endpoint begins."""
        return self.endpoint.partition(" ")[0]


def shares(loads: Iterable[EndpointLoad], free: int, free_for_trouble: int) -> dict[str, int]:
    """Return how many deliveries to start for each endpoint: at most ``free`` in all, of them ``free_for_trouble`` to
    endpoints in trouble. Each slot goes to the application with the fewest under way, however many endpoints it has,
    and among these to the one with the fewest, so that a long backlog delays only its own."""
    loads = list(loads)
    healthy = [load for load in loads if not load.trouble]
    troubled = [load for load in loads if load.trouble]
    dealt = _deal(healthy, free, AT_ONCE)
    left = min(free - sum(dealt.values()), free_for_trouble)
    return dealt | _deal(troubled, left, AT_ONCE_IN_TROUBLE)


def _deal(loads: list[EndpointLoad], free: int, at_once: int) -> dict[str, int]:
    dealt: dict[str, int] = {}
    of_application = Counter[str]()
    for load in loads:
        of_application[load.application] += load.sending
    queue = [
        (of_application[each.application], each.sending, each.endpoint, each.application, each.due) for each in loads
    ]
    heapq.heapify(queue)
    while queue and free > 0:
        of_all, busy, endpoint, application, due = heapq.heappop(queue)
        if due <= 0 or busy >= at_once:
            continue
        if of_all < of_application[application]:  # the application's other endpoints were dealt some meanwhile
            heapq.heappush(queue, (of_application[application], busy, endpoint, application, due))
            continue
        dealt[endpoint] = dealt.get(endpoint, 0) + 1
        of_application[application] += 1
        free -= 1
        heapq.heappush(queue, (of_all + 1, busy + 1, endpoint, application, due - 1))
    return dealt


LEASE = timedelta(seconds=15)  # three times what sending may take

# Prepared statements are planned for any values, as if a third of all rows were due. The order makes the plan read an
# index from its beginning: without it, a scan that may stop at the first rows seems cheaper, and finds none. Deliveries
# under way were due before the others: they are among the first.
_LOADS = """
    WITH RECURSIVE endpoints (endpoint) AS (
        (SELECT min(endpoint) FROM webhooks_delivery WHERE status = 'waiting')
        UNION ALL
        SELECT (SELECT min(d.endpoint) FROM webhooks_delivery d
                WHERE d.status = 'waiting' AND d.endpoint > e.endpoint)
        FROM endpoints e WHERE e.endpoint IS NOT NULL
    )
    SELECT e.endpoint, load.due, load.sending,
        EXISTS (SELECT FROM webhooks_delivery t
                WHERE t.status = 'waiting' AND t.failures > 0 AND t.endpoint = e.endpoint)
    FROM endpoints e CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE claimed_at >= %(lapsed)s) AS sending,
            count(*) FILTER (WHERE claimed_at IS NULL OR claimed_at < %(lapsed)s) AS due
        FROM (
            SELECT w.claimed_at FROM webhooks_delivery w
            WHERE w.status = 'waiting' AND w.endpoint = e.endpoint AND w.due_at <= %(now)s
            ORDER BY w.due_at, w.id LIMIT %(most)s
        ) AS first_ones
    ) AS load
    WHERE e.endpoint IS NOT NULL AND load.due > 0
"""

# Rows are picked once, whatever the plan: a join that looked again would skip those it has updated, and take others.
# An attempt that a dead worker began is made again, and has its row already.
_CLAIM = """
    WITH picked AS MATERIALIZED (
        SELECT due.id FROM unnest(%(endpoints)s::text[], %(counts)s::int[]) AS share (endpoint, count)
        CROSS JOIN LATERAL (
            SELECT w.id FROM webhooks_delivery w
            WHERE w.status = 'waiting' AND w.endpoint = share.endpoint AND w.due_at <= %(now)s
                AND (w.claimed_at IS NULL OR w.claimed_at < %(lapsed)s)
            ORDER BY w.due_at, w.id LIMIT share.count FOR UPDATE SKIP LOCKED
        ) AS due
    ), claimed AS (
        UPDATE webhooks_delivery AS delivery
        SET claimed_at = %(now)s, open_attempt = coalesce(open_attempt, gen_random_uuid())
        FROM picked WHERE delivery.id = picked.id
        RETURNING delivery.*
    ), begun AS (
        INSERT INTO webhooks_attempt (id, delivery_id, started_at, response, error)
        SELECT open_attempt, id, %(now)s, '', '' FROM claimed ON CONFLICT DO NOTHING
    )
    SELECT claimed.id, claimed.open_attempt, claimed.request_id, claimed.entry_id, claimed.destination, claimed.url,
        claimed.endpoint, claimed.event_type, claimed.payload, application.webhook_secret_encrypted,
        application.next_webhook_secret_encrypted, application.next_webhook_secret_at
    FROM claimed JOIN organizations_application AS application ON application.id = claimed.application_id
"""
_ANY_DUE = """
    SELECT 1 FROM webhooks_delivery
    WHERE status = 'waiting' AND due_at <= %(now)s AND (claimed_at IS NULL OR claimed_at < %(lapsed)s)
    ORDER BY due_at LIMIT 1
"""


class ClaimedDelivery(NamedTuple):
    """A delivery to be sent; fields in the order of the statement's columns. ``secret`` is that of the application,
    encrypted, and so is the ``next_secret`` that takes its place at ``next_secret_at``; ``trouble`` says that its
    endpoint is in trouble (:class:`EndpointLoad`)."""

    delivery_id: int
    attempt_id: UUID
    request_id: int | None
    entry_id: int | None
    destination: str
    url: str
    endpoint: str
    event_type: str
    payload: str
    secret: bytes
    next_secret: bytes | None
    next_secret_at: datetime | None
    trouble: bool


_ENDPOINT = ClaimedDelivery._fields.index("endpoint")


def claim(free: int, free_for_trouble: int, now: datetime) -> list[ClaimedDelivery]:
    """Claim up to ``free`` due deliveries, record an attempt for each, and return them. A claim lasts for
    :data:`LEASE`: the worker of an older claim must be dead, and its attempt is made again.

    At most ``free_for_trouble`` of them go to endpoints in trouble. Workers that claim at the same time never get the
    same delivery; together they may exceed the limit of an endpoint, which is meant to be fair rather than exact.
    """
    moments = {"now": now, "lapsed": now - LEASE}
    if free <= 0 or not _rows(_ANY_DUE, moments):
        return []
    loads = [EndpointLoad(*row) for row in _rows(_LOADS, {**moments, "most": 2 * AT_ONCE})]
    share = shares(loads, free, free_for_trouble)
    troubled = {load.endpoint for load in loads if load.trouble}
    rows = _rows(_CLAIM, {**moments, "endpoints": list(share), "counts": list(share.values())})
    return [ClaimedDelivery._make((*row, row[_ENDPOINT] in troubled)) for row in rows]


def _rows(statement: str, arguments: dict[str, Any]) -> list[tuple[Any, ...]]:
    return planned(statement, arguments).fetchall()


DELAYS = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=25), timedelta(hours=2), timedelta(hours=10))
"""The wait until the next attempt, after each failure but the last."""


_log = structlog.get_logger(__name__)
_RESULTS: dict[str, str] = {  # names in the metrics
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
        status = DeliveryStatus.FAILED
        if failures <= len(DELAYS):
            status, due_at = DeliveryStatus.WAITING, now + DELAYS[failures - 1]
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
