"""Reading the events of a tenant from a cursor on, in the order of their commits (docs/decisions/events.md)."""

import base64
import struct
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self

from django.db import connection
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.tenants.scope import TenantScope
from paraph.webhooks.models import Event, EventStream

DAYS_KEPT = 30
_PRUNED_AT_ONCE = 1000


def _of_tenant(table: str) -> str:
    return f"{table}.organization_id = %(organization_id)s::bigint AND {table}.environment = %(environment)s"


_CHOICES = {  # a plan for each: one for all would read events that it does not show
    (False, False): "",
    (True, False): "AND event_type = %(event_type)s",
    (False, True): "AND request_id = %(request)s::bigint",
    (True, True): "AND request_id = %(request)s::bigint AND event_type = %(event_type)s",
}
# One statement, so that the end, the cursor's own event and those after it are of one moment.
_PAGE = {
    choice: f"""
    SELECT stream.position, stream.published_at, own.published_at, next_one.position,
        page.entry_id, page.request_id, page.event_type, page.payload, page.position, page.published_at
    FROM (SELECT) AS one
    LEFT JOIN webhooks_eventstream AS stream ON {_of_tenant("stream")}
    LEFT JOIN webhooks_event AS own ON {_of_tenant("own")} AND own.position = %(after)s::bigint
    LEFT JOIN webhooks_event AS next_one ON {_of_tenant("next_one")} AND next_one.position = %(after)s::bigint + 1
    LEFT JOIN LATERAL (
        SELECT * FROM webhooks_event AS event
        WHERE {_of_tenant("event")} AND position > %(after)s::bigint {condition}
        ORDER BY position LIMIT %(limit)s::bigint
    ) AS page ON true
    ORDER BY page.position
    """  # noqa: S608  our own words
    for choice, condition in _CHOICES.items()
}
_END = f"SELECT position, published_at FROM webhooks_eventstream AS stream WHERE {_of_tenant('stream')}"  # noqa: S608

_START = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PACKED = struct.Struct(">QQ")


class Cursor(NamedTuple):
    """The last event that a reader has seen: its position, and the moment at which it was given one; 0 and the start of
    time where there was none. After a database was restored, the moment tells whether it is still that event."""

    position: int
    moment: datetime

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return the cursor that the text states; None where it states none."""
        try:
            packed = base64.b64decode(text.encode() + b"==", altchars=b"-_", validate=True)
            position, moment = _PACKED.unpack(packed)
            found = cls(position, _START + moment * _MICROSECOND)
        except (ValueError, OverflowError, struct.error):
            return None
        return found if position < 2**63 - 1 and str(found) == text else None

    def __str__(self) -> str:
        packed = _PACKED.pack(self.position, (self.moment - _START) // _MICROSECOND)
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")


BEGINNING = Cursor(0, _START)


class ListedEvent(NamedTuple):
    """An event as the API lists it. ``payload`` is as :mod:`paraph.webhooks.outbox` wrote it."""

    id: int
    request_id: int
    event_type: str
    payload: str


class EventPage(NamedTuple):
    """A page of events. ``following`` is the cursor to go on from, beyond events that are left out."""

    events: list[ListedEvent]
    following: Cursor
    has_more: bool


def end_of(scope: TenantScope) -> Cursor:
    """Return the cursor behind the newest event."""
    with connection.cursor() as cursor:
        cursor.execute(_END, scope.columns)
        return Cursor._make(cursor.fetchone() or BEGINNING)


def page_after(
    scope: TenantScope, after: Cursor | None, limit: int, event_type: str = "", request_id: int | None = None
) -> EventPage:
    """Return at most ``limit`` events behind a cursor, or without one from the oldest kept: all, or those of one type
    or of one request. Raise ``DomainError("cursor_expired", …)`` where what followed the cursor is not kept any more,
    or the cursor is of an event that a restored database does not have."""
    values = {
        **scope.columns,
        "after": after.position if after else 0,
        "event_type": event_type,
        "request": request_id,
        "limit": limit + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(_PAGE[bool(event_type), request_id is not None], values)
        rows: list[Any] = cursor.fetchall()
    position, moment, own, next_one = rows[0][:4]
    end = BEGINNING if position is None else Cursor(position, moment)
    if after and not _holds(after, own, next_one, end):
        message = _("What followed this cursor is not kept any more. Begin again without one, or with latest.")
        raise DomainError("cursor_expired", message)
    found = [row[4:] for row in rows if row[4] is not None]
    shown, has_more = found[:limit], len(found) > limit
    events = [ListedEvent._make(row[:4]) for row in shown]
    return EventPage(events, Cursor._make(shown[-1][4:]) if has_more else end, has_more)


def _holds(cursor: Cursor, own: datetime | None, next_one: int | None, end: Cursor) -> bool:
    """Return whether nothing is missing behind the cursor: its own event is there, or was the last to be deleted."""
    if own is not None:
        return own == cursor.moment
    return cursor == end or next_one is not None


def prune_events(now: datetime) -> int:
    """Delete the events that were published more than :data:`DAYS_KEPT` days ago, in batches with a transaction each;
    return how many. Of each stream the oldest go first, so that a reader can tell whether it has missed any."""
    pruned = 0
    for stream in EventStream.objects.order_by("organization_id", "environment"):
        mine = Event.objects.filter(organization=stream.organization_id, environment=stream.environment)
        ordered = mine.filter(position__isnull=False).order_by("position").values_list("pk", "published_at")
        while oldest := list(ordered[:_PRUNED_AT_ONCE]):
            chosen = [pk for pk, moment in oldest if moment and moment < now - timedelta(days=DAYS_KEPT)]
            pruned += Event.objects.filter(pk__in=chosen).delete()[0]
            if len(chosen) < _PRUNED_AT_ONCE:
                break
    return pruned
