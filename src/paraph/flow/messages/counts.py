"""Counting messages against ceilings, exactly, whatever happens at the same time (docs/decisions/messages.md)."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection

from paraph.database.prepared_statements import prepared_cursor
from paraph.kernel import clock

# A window that lies in the future is over as well: a clock was set back. A minute is what clocks of servers differ by.
_OVER = """
    (EXCLUDED.began_at >= held.began_at + held.seconds * interval '1 second'
    OR EXCLUDED.began_at < held.began_at - interval '1 minute')
"""
# Rows are locked in one order everywhere, so that two messages never wait for each other.
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
    """At most ``most`` messages in ``seconds``, counted from the first, of all those that name this ``scope``."""

    scope: str
    seconds: int
    most: int


class Place(NamedTuple):
    """That a message was the ``number``-th, from 1, in the window that began at that moment."""

    ceiling: Ceiling
    began_at: datetime
    number: int

    @property
    def is_beyond(self) -> bool:
        return self.number > self.ceiling.most

    @property
    def window_ends_at(self) -> datetime:
        return self.began_at + timedelta(seconds=self.ceiling.seconds)

    @property
    def turn_comes_at(self) -> datetime:
        """When this message can be sent if all that were counted before it go first. A window begins with the first
        message in it, which may be a while after the end of the one before."""
        windows = (self.number - 1) // self.ceiling.most
        return self.began_at + windows * (timedelta(seconds=self.ceiling.seconds) + _SLACK)


def count(ceilings: Sequence[Ceiling]) -> list[Place]:
    """Counts one message against each ceiling, in one statement: of those that come at once, no two are given the
    same number, so no more than ``most`` stay below. Those that are then not sent are to be given back."""
    if not ceilings:
        return []
    by_key = {(ceiling.scope, ceiling.seconds): ceiling for ceiling in ceilings}
    with prepared_cursor() as cursor:
        cursor.execute(_COUNT, [clock.now(), [scope for scope, _ in by_key], [seconds for _, seconds in by_key]])
        rows = cursor.fetchall()
    return [Place(by_key[scope, seconds], began_at, number) for scope, seconds, began_at, number in rows]


def give_back(places: Iterable[Place]) -> None:
    """Takes the message out of the count again, where its window is still the same."""
    taken = list(places)
    if taken:
        keys = [place.ceiling for place in taken]
        with prepared_cursor() as cursor:
            cursor.execute(
                _GIVE_BACK,
                [[key.scope for key in keys], [key.seconds for key in keys], [place.began_at for place in taken]],
            )


def forget_counts() -> int:
    """Deletes the counts of windows that are over, or that a clock set back has left in the future."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, {"now": clock.now()})
        return int(cursor.rowcount)
