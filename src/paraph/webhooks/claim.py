"""Claiming deliveries to send, so that no two workers send the same one."""

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from paraph.database.base import planned

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
        """Its id, with which the name of an endpoint begins."""
        return self.endpoint.partition(" ")[0]


def shares(loads: Iterable[EndpointLoad], free: int, free_for_trouble: int) -> dict[str, int]:
    """Return how many deliveries to start for each endpoint: at most ``free`` in all, of them ``free_for_trouble`` to
    endpoints in trouble. Each slot goes to the application with the fewest, however many endpoints it has, and of its
    endpoints to that with the fewest, so that a long backlog delays its own only."""
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
        if of_all < of_application[application]:  # others of its endpoints were dealt some meanwhile
            heapq.heappush(queue, (of_application[application], busy, endpoint, application, due))
            continue
        dealt[endpoint] = dealt.get(endpoint, 0) + 1
        of_application[application] += 1
        free -= 1
        heapq.heappush(queue, (of_all + 1, busy + 1, endpoint, application, due - 1))
    return dealt


LEASE = timedelta(seconds=15)  # three times what sending may take

# Prepared statements are planned for any values, as if a third of all rows were due. The order is what has an index
# read from its beginning: without it, a scan that may stop at the first rows seems cheaper, and finds none. What is
# under way was due before the others: it is among the first.
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
    endpoint is in trouble (:class:`~paraph.webhooks.claim.EndpointLoad`)."""

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
    :data:`LEASE`: the worker of an older one must be dead, and its attempt is made again.

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
