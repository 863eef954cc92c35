"""Filters of requests, documents and events (rule 4.1): strict, never silently ignored."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _

from paraph.api.v1.operation import DocumentPart, query
from paraph.kernel.errors import DomainError
from paraph.signature_requests.values import LONGEST_NAME
from paraph.tenants.scope import Row
from paraph.webhooks.event_log import Cursor

EXTERNAL_ID = query(
    "external_id", "Only those that were created with it, verbatim.", type="string", minLength=1, maxLength=LONGEST_NAME
)
LATEST = "latest"
_NUMBER = re.compile(r"[0-9]{1,19}", re.ASCII)
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


def selection(asked_for: QueryDict, statuses: Collection[str], *more: DocumentPart) -> Selection:
    """Return what a query asks for, by the filters of every list and those ``more``. Raises as :func:`strict`."""
    asked = strict(asked_for, *filters(statuses), *more)
    return Selection(
        asked.get("status", ""),
        asked.get("created_after"),
        asked.get("created_before"),
        asked.get("order") == "desc",
        asked.get("external_id", ""),
    )


def strict(asked_for: QueryDict, *parameters: DocumentPart) -> dict[str, Any]:
    """Return the values that a query gives to parameters, by their names. Raises ``validation_error`` naming every one
    that is given twice or is not as its schema says."""
    found: dict[str, Any] = {}
    problems: list[str] = []
    for name, schema in ((each["name"], each["schema"]) for each in parameters):
        values = asked_for.getlist(name)
        if len(values) > 1:
            problems.append(_("%(name)s is given more than once.") % {"name": name})
        elif values:
            found[name], expected = _read(name, values[0], schema)
            if found[name] is None:
                message = _("%(name)s must be %(expected)s, not “%(value)s”.")
                problems.append(message % {"name": name, "expected": expected, "value": values[0][:100]})
    if problems:
        raise DomainError("validation_error", " ".join(problems))
    return found


def _read(name: str, value: str, schema: DocumentPart) -> tuple[Any, str]:
    """Return a value, ``None`` for one that is not of the schema, and what it must be. A bare date is the whole day:
    its first moment as lower bound, its last as upper bound."""
    if "enum" in schema:
        return value if value in schema["enum"] else None, _("one of %(values)s") % {
            "values": ", ".join(schema["enum"])
        }
    if "anyOf" in schema:
        of_day = time.max if name.endswith("_before") else time.min
        return _moment(value, of_day), _("an ISO 8601 date or timestamp")
    if schema["type"] == "integer":
        most = schema["maximum"]
        number = int(value) if _NUMBER.fullmatch(value) else 0
        return number if 1 <= number <= most else None, _("a number from 1 to %(most)d") % {"most": most}
    if "pattern" in schema:
        is_cursor = value == LATEST or Cursor.read(value) is not None
        return value if is_cursor else None, _("a cursor returned as “next”, or latest")
    most = schema["maxLength"]
    is_text = value.strip() and len(value) <= most and "\0" not in value
    return value if is_text else None, _("a text of 1 to %(limit)d characters") % {"limit": most}


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
