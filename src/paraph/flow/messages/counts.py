"""Counting messages against ceilings, exactly also under concurrency (docs/decisions/messages.md)."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection

from paraph.database.planned import planned
from paraph.kernel import clock

# A window in the future counts as over: a clock was set back. The clocks of servers differ by up to a minute.
_OVER = """
    (EXCLUDED.began_at >= held.began_at + held.seconds * interval '1 second'
    OR EXCLUDED.began_at < held.began_at - interval '1 minute')
"""
# Rows are locked in one order everywhere, so that no two messages wait for each other.
_COUNT = f"""
    INSERT INTO messaging_messagecount AS held (scope, seconds, began_at, asked)
    SELECT wanted.scope, wanted.seconds, %s, 1
    FROM unnest(%s::text[], %s::int[]) AS wanted (scope, seconds) ORDER BY 1, 2
    ON CONFLICT (scope, seconds) DO UPDATE SET
        began_at = CASE WHEN {_OVER} THEN EXCLUDED.began_at ELSE held.began_at END,
        asked = CASE WHEN {_OVER} THEN 1 ELSE held.asked + 1 END
    RETURNING scope, seconds, began_at, asked
"""  # noqa: S608  constants of ours
_GIVE_BACK = """
    WITH held AS (
        SELECT scope, seconds, began_at FROM messaging_messagecount
        WHERE (scope, seconds, began_at) IN (SELECT * FROM unnest(%s::text[], %s::int[], %s::timestamptz[]))
        ORDER BY 1, 2 FOR UPDATE
    )
    UPDATE messaging_messagecount AS changed SET asked = changed.asked - 1 FROM held
    WHERE changed.scope = held.scope AND changed.seconds = held.seconds AND changed.began_at = held.began_at
        AND changed.asked > 0
"""
_FORGET = """
    DELETE FROM messaging_messagecount
    WHERE %(now)s NOT BETWEEN began_at - interval '1 minute' AND began_at + seconds * interval '1 second'
"""
_SLACK = timedelta(minutes=1)


class Ceiling(NamedTuple):
    """At most ``limit`` messages of this ``scope`` in a window of ``seconds`` that begins with its first message."""

    scope: str
    seconds: int
    limit: int


class MessagePosition(NamedTuple):
    """The position of a message in a window: the ``number``-th (from 1) since ``began_at``."""

    ceiling: Ceiling
    began_at: datetime
    number: int

    @property
    def is_beyond(self) -> bool:
        return self.number > self.ceiling.limit

    @property
    def window_ends_at(self) -> datetime:
        return self.began_at + timedelta(seconds=self.ceiling.seconds)

    @property
    def turn_comes_at(self) -> datetime:
        """The moment at which this message can be sent after all that were counted before it. Each window begins a
        little after the end of the one before, with its first message."""
        windows = (self.number - 1) // self.ceiling.limit
        return self.began_at + windows * (timedelta(seconds=self.ceiling.seconds) + _SLACK)


def count(ceilings: Sequence[Ceiling]) -> list[MessagePosition]:
    """Count one message against each ceiling, in one statement, and return its position below each.

    Messages that are counted at the same time have different numbers, so at most ``limit`` of them stay below the
    ceiling. A message that is then not sent must be given back (:func:`give_back`).
    """
    if not ceilings:
        return []
    by_key = {(ceiling.scope, ceiling.seconds): ceiling for ceiling in ceilings}
    rows = planned(_COUNT, [clock.now(), [scope for scope, _ in by_key], [seconds for _, seconds in by_key]]).fetchall()
    return [MessagePosition(by_key[scope, seconds], began_at, number) for scope, seconds, began_at, number in rows]


def give_back(positions: Iterable[MessagePosition]) -> None:
    """Take a message out of the counts of windows that still run."""
    returned = list(positions)
    if returned:
        keys = [position.ceiling for position in returned]
        with connection.cursor() as cursor:
            cursor.execute(
                _GIVE_BACK,
                [
                    [key.scope for key in keys],
                    [key.seconds for key in keys],
                    [position.began_at for position in returned],
                ],
            )


def forget_counts() -> int:
    """Delete the counts of windows that are over, or in the future since a clock was set back; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, {"now": clock.now()})
        return int(cursor.rowcount)
