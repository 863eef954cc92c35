"""What a call for events asks for: strict, as filters are."""

import re
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.signature_requests.values import LARGEST_ID
from paraph.webhooks.event_log import Choice, Cursor
from paraph.webhooks.payload import EVENTS

PARAMETERS = ("after", "limit", "event", "signature_request_id")
DEFAULT_LIMIT = 50
LARGEST_LIMIT = 100
LATEST = "latest"

_NUMBER = re.compile(r"[0-9]{1,19}", re.ASCII)


@dataclass(frozen=True)
class EventQuery:
    """``after`` is None for the oldest that are kept; with ``latest``, only the end is asked for."""

    after: Cursor | None
    latest: bool
    choice: Choice
    limit: int


def event_query(query: QueryDict) -> EventQuery:
    """Return what the query asks for. Raises ``validation_error`` naming every unreadable value."""
    problems: list[str] = []
    after = _only(query, "after", problems)
    cursor = Cursor.read(after) if after not in (None, LATEST) else None
    if after not in (None, LATEST) and cursor is None:
        _unreadable("after", after, _("a cursor returned as “next”, or latest"), problems)
    event_type = _only(query, "event", problems)
    if event_type is not None and event_type not in EVENTS:
        _unreadable("event", event_type, _("one of %(values)s") % {"values": ", ".join(EVENTS)}, problems)
    request_id = _number(query, "signature_request_id", LARGEST_ID, problems)
    limit = _number(query, "limit", LARGEST_LIMIT, problems)
    if problems:
        raise DomainError("validation_error", " ".join(problems))
    return EventQuery(cursor, after == LATEST, Choice(event_type or "", request_id), limit or DEFAULT_LIMIT)


def _number(query: QueryDict, name: str, most: int, problems: list[str]) -> int | None:
    value = _only(query, name, problems)
    if value is None:
        return None
    number = int(value) if _NUMBER.fullmatch(value) else 0
    if 1 <= number <= most:
        return number
    _unreadable(name, value, _("a number from 1 to %(most)d") % {"most": most}, problems)
    return None


def _only(query: QueryDict, name: str, problems: list[str]) -> str | None:
    values = query.getlist(name)
    if len(values) > 1:
        problems.append(_("%(name)s is given more than once.") % {"name": name})
    return values[0] if len(values) == 1 else None


def _unreadable(name: str, value: str | None, expected: str, problems: list[str]) -> None:
    message = _("%(name)s must be %(expected)s, not “%(value)s”.")
    problems.append(message % {"name": name, "expected": expected, "value": (value or "")[:100]})
