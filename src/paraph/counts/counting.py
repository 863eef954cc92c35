"""Counting against ceilings, exactly also under concurrency: messages, wrong codes, calls with wrong keys, invitations
that are sent again, requests that are sent from the dashboard."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection

from paraph.counts.models import Count
from paraph.kernel import clock

KEPT_FOR_GOOD = datetime(9999, 12, 31, tzinfo=UTC)
"""The end of a window that is never over."""

# A window that ends too late was opened before the clock was set back: it counts as over.
_OVER = "(held.ends_at <= %(now)s::timestamptz OR held.ends_at > EXCLUDED.ends_at + %(slip)s::interval)"
# Rows are locked in one order everywhere, so that no two calls wait for each other.
ADD_ONE = f"""
    ORDER BY 1, 2
    ON CONFLICT (scope, seconds) DO UPDATE SET
        ends_at = CASE WHEN {_OVER} THEN EXCLUDED.ends_at ELSE held.ends_at END,
        count = CASE WHEN {_OVER} THEN 1 ELSE held.count + 1 END
"""
"""The end of an ``INSERT INTO counts_count AS held (scope, seconds, ends_at, count)`` with a count of 1 in each row.
Its parameters are ``now`` and ``slip``."""
# Outside of a transaction the commit does not wait for the disk: a crash of the machine loses a few counts.
_COUNT = f"""
    WITH counted AS (
        INSERT INTO counts_count AS held (scope, seconds, ends_at, count)
        SELECT scope, seconds, coalesce(%(ends_at)s, %(now)s::timestamptz + seconds * interval '1 second'), 1
        FROM unnest(%(scopes)s::text[], %(seconds)s::int[]) AS wanted (scope, seconds)
        {ADD_ONE}
        RETURNING scope, seconds, ends_at, count
    )
    SELECT *, CASE WHEN %(alone)s::bool THEN set_config('synchronous_commit', 'off', true) END FROM counted
"""  # noqa: S608  constants of ours
_GIVE_BACK = """
    WITH held AS (
        SELECT scope, seconds FROM counts_count
        WHERE (scope, seconds, ends_at) IN (SELECT * FROM unnest(%s::text[], %s::int[], %s::timestamptz[]))
        ORDER BY 1, 2 FOR UPDATE
    )
    UPDATE counts_count AS changed SET count = changed.count - 1 FROM held
    WHERE changed.scope = held.scope AND changed.seconds = held.seconds AND changed.count > 0
"""
_FORGET = """
    DELETE FROM counts_count WHERE (scope, seconds) IN (
        SELECT scope, seconds FROM counts_count WHERE ends_at <= %s ORDER BY ends_at LIMIT %s FOR UPDATE SKIP LOCKED
    )
"""
_SLACK = timedelta(minutes=1)


class Ceiling(NamedTuple):
    """At most ``limit`` of this ``scope`` in a window of ``seconds``, which begins with the first one counted."""

    scope: str
    seconds: int
    limit: int


class Position(NamedTuple):
    """The position of a count in a window that ends at ``ends_at``: the ``number``-th, from 1."""

    ceiling: Ceiling
    ends_at: datetime
    number: int

    @property
    def is_beyond(self) -> bool:
        return self.number > self.ceiling.limit

    @property
    def turn_comes_at(self) -> datetime:
        """The moment at which there is room for this position, after all that were counted before it. Each window
        begins a little after the end of the one before, when the first one is counted in it."""
        length = timedelta(seconds=self.ceiling.seconds)
        return self.ends_at - length + (self.number - 1) // self.ceiling.limit * (length + _SLACK)


def count(ceilings: Sequence[Ceiling], ends_at: datetime | None = None) -> list[Position]:
    """Count one against each ceiling, in one statement, and return its position below each, in the order of the
    ceilings. Calls at the same time get different numbers, so at most ``limit`` of them stay below the ceiling. What is
    counted but does not happen must be given back (:func:`give_back`), unless the rollback of a transaction does so.
    ``ends_at``: the end of windows that begin now, by default ``seconds`` from now."""
    if not ceilings:
        return []
    by_key = {(ceiling.scope, ceiling.seconds): ceiling for ceiling in ceilings}
    values: dict[str, Any] = {
        "now": clock.now(),
        "slip": clock.TOLERANCE,
        "ends_at": ends_at,
        "scopes": [scope for scope, _ in by_key],
        "seconds": [seconds for _, seconds in by_key],
        "alone": not connection.in_atomic_block,
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, values)
        counted = {(scope, seconds): (ends_at, number) for scope, seconds, ends_at, number, _ in cursor.fetchall()}
    return [Position(ceiling, *counted[key]) for key, ceiling in by_key.items()]


def give_back(positions: Iterable[Position]) -> None:
    """Take one out of the counts of windows that still run."""
    rows = [(position.ceiling.scope, position.ceiling.seconds, position.ends_at) for position in positions]
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(_GIVE_BACK, [list(column) for column in zip(*rows, strict=True)])


def number_of(scope: str) -> int:
    """Return what was counted of a scope, in a window that is not deleted yet."""
    return Count.objects.filter(scope=scope).values_list("count", flat=True).first() or 0


def forget(most: int | None = None) -> int:
    """Delete the counts of windows that are over, at most ``most`` of them; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, [clock.now() - clock.TOLERANCE, most])
        return int(cursor.rowcount)
