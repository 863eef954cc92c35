"""Filters of requests and documents (rule 4.1): strict, never silently ignored."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, time

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _

from paraph.api.v1.operation import DocumentPart, query
from paraph.kernel.errors import DomainError
from paraph.signature_requests.values import LONGEST_NAME
from paraph.tenants.scope import Row

EXTERNAL_ID = query(
    "external_id", "Only those that were created with it, verbatim.", type="string", minLength=1, maxLength=LONGEST_NAME
)
_NAMES = ("status", "created_after", "created_before", "order", "external_id")

_FORM = re.compile(
    r"(?:\d{4}-\d\d-\d\d|\d{8}|\d{4}-W\d\d-\d|\d{4}W\d{3})"
    r"(?P<time>[Tt ](?:[01]\d|2[0-3])(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)?(?:[Zz]|[+-]\d\d(?::?[0-5]\d)?)?)?",
    re.ASCII,
)


def filters(statuses: Collection[str]) -> list[DocumentPart]:
    """Return the parameters of every list."""
    return [
        query("status", "Only those of the status.", type="string", enum=list(statuses)),
        _moment_in("created_after", "Only those created from this moment on"),
        _moment_in("created_before", "Only those created up to this moment"),
        query("order", "By the time of creation.", type="string", enum=["asc", "desc"], default="asc"),
    ]


def _moment_in(name: str, meaning: str) -> DocumentPart:
    description = f"{meaning}, inclusive. An ISO 8601 date (the whole day, in UTC) or timestamp, with any offset."
    forms = [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]
    return query(name, description, anyOf=forms, examples=["2026-01-31", "2026-01-31T09:30:00Z"])


@dataclass(frozen=True)
class Selection:
    """Which rows, from ``after`` to ``before``, both inclusive, and in which order. ``status`` and ``external_id`` ""
    are any."""

    status: str = ""
    after: datetime | None = None
    before: datetime | None = None
    descending: bool = False
    external_id: str = ""

    def of(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Return the selected rows, in order; those of one second in the order of their ids."""
        if self.status:
            rows = rows.filter(status=self.status)
        if self.external_id:
            rows = rows.filter(external_id=self.external_id)
        if self.after:
            rows = rows.filter(created_at__gte=self.after)
        if self.before:
            rows = rows.filter(created_at__lte=self.before)
        return rows.order_by("-created_at", "-id") if self.descending else rows.order_by("created_at", "id")


def selection(asked_for: QueryDict, statuses: Collection[str], *, external_id: bool = False) -> Selection:
    """Return what a query asks for, by the filters of every list and that of ``external_id``. Raises
    ``validation_error`` naming every unreadable value."""
    problems: list[str] = []
    values = {name: _only(asked_for, name, problems) for name in _NAMES[: None if external_id else -1]}
    asked = Selection(
        status=_status(values["status"], statuses, problems),
        after=_bound("created_after", values["created_after"], time.min, problems),
        before=_bound("created_before", values["created_before"], time.max, problems),
        descending=_descending(values["order"], problems),
        external_id=_external_id(values.get("external_id"), problems),
    )
    if problems:
        raise DomainError("validation_error", " ".join(problems))
    return asked


def _only(asked_for: QueryDict, name: str, problems: list[str]) -> str | None:
    values = asked_for.getlist(name)
    if len(values) > 1:
        problems.append(_("%(name)s is given more than once.") % {"name": name})
    return values[0] if len(values) == 1 else None


def _status(value: str | None, statuses: Collection[str], problems: list[str]) -> str:
    if value is not None and value not in statuses:
        _unreadable("status", value, _("one of %(values)s") % {"values": ", ".join(statuses)}, problems)
    return value or ""


def _bound(name: str, value: str | None, of_day: time, problems: list[str]) -> datetime | None:
    """Return the moment; a bare date is the whole day: its first moment as lower bound, its last as upper bound."""
    if value is None:
        return None
    moment = _moment(value, of_day)
    if moment is None:
        _unreadable(name, value, _("an ISO 8601 date or timestamp"), problems)
    return moment


def _external_id(value: str | None, problems: list[str]) -> str:
    if value is None or (value.strip() and len(value) <= LONGEST_NAME and "\0" not in value):
        return value or ""
    _unreadable("external_id", value, _("a text of 1 to %(limit)d characters") % {"limit": LONGEST_NAME}, problems)
    return ""


def _descending(value: str | None, problems: list[str]) -> bool:
    if value not in (None, "asc", "desc"):
        _unreadable("order", value or "", _("one of %(values)s") % {"values": "asc, desc"}, problems)
    return value == "desc"


def _unreadable(name: str, value: str, expected: str, problems: list[str]) -> None:
    message = _("%(name)s must be %(expected)s, not “%(value)s”.")
    problems.append(message % {"name": name, "expected": expected, "value": value[:100]})


def _moment(text: str, of_day: time) -> datetime | None:
    """Return a date and a time, or a bare date with the time ``of_day``. Without an offset it is UTC, like every
    timestamp of the API. A space where the offset's plus stood is what a query string makes of one that was not
    escaped."""
    text = re.sub(r"(?<=[Tt])([0-9:.,]+) (?=[0-9])", r"\1+", text).replace("\N{MINUS SIGN}", "-")
    form = _FORM.fullmatch(text)
    if form is None:
        return None
    try:
        moment = datetime.fromisoformat(text.upper())
        if not form["time"]:
            return datetime.combine(moment, of_day, UTC)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
