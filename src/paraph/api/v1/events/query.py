"""What a call for events asks for: strict, as filters are."""

import re
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext as _

from paraph.api.v1.operation import query
from paraph.kernel.errors import DomainError
from paraph.signature_requests.values import LARGEST_ID
from paraph.webhooks.event_log import Choice, Cursor
from paraph.webhooks.payload import EVENTS

DEFAULT_LIMIT = 50
LARGEST_LIMIT = 100
LATEST = "latest"
PARAMETERS = (
    query(
        "after",
        "A cursor returned as `next`; `latest` for the end. Without it, from the oldest that are kept.",
        type="string",
        pattern="^(latest|[A-Za-z0-9_-]{22})$",
        examples=[LATEST],
    ),
    query("limit", "How many at most.", type="integer", minimum=1, maximum=LARGEST_LIMIT, default=DEFAULT_LIMIT),
    query("event", "Only those of the type.", type="string", enum=list(EVENTS)),
    query(
        "signature_request_id",
        "Only those of the request.",
        type="integer",
        minimum=1,
        maximum=LARGEST_ID,
        format="int64",
    ),
)

_NUMBER = re.compile(r"[0-9]{1,19}", re.ASCII)


@dataclass(frozen=True)
class EventQuery:
    """``after`` is None for the oldest that are kept; with ``latest``, only the end is asked for."""

    after: Cursor | None
    latest: bool
    choice: Choice
    limit: int


def event_query(asked_for: QueryDict) -> EventQuery:
    """Return what the query asks for. Raises ``validation_error`` naming every unreadable value."""
    problems: list[str] = []
    after = _only(asked_for, "after", problems)
    cursor = Cursor.read(after) if after not in (None, LATEST) else None
    if after not in (None, LATEST) and cursor is None:
        _unreadable("after", after, _("a cursor returned as “next”, or latest"), problems)
    event_type = _only(asked_for, "event", problems)
    if event_type is not None and event_type not in EVENTS:
        _unreadable("event", event_type, _("one of %(values)s") % {"values": ", ".join(EVENTS)}, problems)
    request_id = _number(asked_for, "signature_request_id", LARGEST_ID, problems)
    limit = _number(asked_for, "limit", LARGEST_LIMIT, problems)
    if problems:
        raise DomainError("validation_error", " ".join(problems))
    return EventQuery(cursor, after == LATEST, Choice(event_type or "", request_id), limit or DEFAULT_LIMIT)


def _number(asked_for: QueryDict, name: str, most: int, problems: list[str]) -> int | None:
    value = _only(asked_for, name, problems)
    if value is None:
        return None
    number = int(value) if _NUMBER.fullmatch(value) else 0
    if 1 <= number <= most:
        return number
    _unreadable(name, value, _("a number from 1 to %(most)d") % {"most": most}, problems)
    return None


def _only(asked_for: QueryDict, name: str, problems: list[str]) -> str | None:
    values = asked_for.getlist(name)
    if len(values) > 1:
        problems.append(_("%(name)s is given more than once.") % {"name": name})
    return values[0] if len(values) == 1 else None


def _unreadable(name: str, value: str | None, expected: str, problems: list[str]) -> None:
    message = _("%(name)s must be %(expected)s, not “%(value)s”.")
    problems.append(message % {"name": name, "expected": expected, "value": (value or "")[:100]})
