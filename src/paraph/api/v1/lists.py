"""Filters and pages of collections (rule 4.1). Filters are strict and never silently ignored; pages are lenient.

Lists that grow without end are neither counted nor skipped row by row (docs/decisions/long-lists.md): whole days are
counted by adding up daily counts; what a bound leaves of a day at either end is counted from its rows. A page is read
from the beginning of the day that it begins in.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _

from paraph.api.v1.endpoint import DocumentPart, json_response, query
from paraph.api.v1.shapes import Output, Pagination
from paraph.kernel.errors import DomainError
from paraph.signature_requests.values import LONGEST_NAME
from paraph.tenants import usage
from paraph.tenants.scope import Row, TenantScope
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
    """The rows to list, from ``after`` to ``before``, both inclusive, and their order. An empty ``status`` or
    ``external_id`` stands for any."""

    status: str = ""
    after: datetime | None = None
    before: datetime | None = None
    descending: bool = False
    external_id: str = ""

    def of(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Return the selected rows in order of time, and rows of the same time in the order of their ids."""
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
    """Return what a query asks for by the filters of every list and by ``more``. Raise as :func:`strict` does."""
    asked = strict(asked_for, *filters(statuses), *more)
    return Selection(
        asked.get("status", ""),
        asked.get("created_after"),
        asked.get("created_before"),
        asked.get("order") == "desc",
        asked.get("external_id", ""),
    )


def strict(asked_for: QueryDict, *parameters: DocumentPart) -> dict[str, Any]:
    """Return the values that a query gives to parameters, by name. Raise ``validation_error`` naming every parameter
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
    """Return the value, ``None`` where it does not fit the schema, and what it must be. A bare date is the whole day:
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
    timestamp of the API. A space in place of the offset's plus is what a query string makes of it unescaped."""
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


DEFAULT_LIMIT = 20
LARGEST_LIMIT = 100
LARGEST_MIB = 4
_LENIENT = ["integer", "string"]  # what is no positive number is answered too, with the default
PAGING = (
    query("page", "From 1. What is no positive number is 1.", type=_LENIENT, default=1, examples=[1]),
    query("limit", "Entries of a page. Lowered to 100; what is no positive number is 20.", type=_LENIENT, default=20),
)
_PAGE_NUMBER = re.compile(r"0*([1-9][0-9]*)", re.ASCII)
_MOST_DIGITS = 18  # any page with a longer number is empty


class Page(NamedTuple):
    number: int
    limit: int

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.limit


def page_of(query: QueryDict) -> Page:
    """Return the page asked for: absent or invalid numbers fall back to the default, a large limit is lowered."""
    return Page(_number(query, "page", 1), min(_number(query, "limit", DEFAULT_LIMIT), LARGEST_LIMIT))


def envelope(
    shape: type[Any],
    rows: QuerySet[Row],
    query: QueryDict,
    of: Callable[[Row], Output],
    size: Callable[[list[int]], int] | None = None,
) -> HttpResponse:
    """Answer with the page of a short collection that is asked for, in the order of the rows. Two queries. ``size``: as
    for :func:`require_readable`."""
    page = page_of(query)
    count = rows.order_by().count()
    entries = rows[page.offset : page.offset + page.limit] if page.offset < count else ()
    if size and page.offset < count:
        require_readable(list(rows.values_list("pk", flat=True)[page.offset : page.offset + page.limit]), size)
    return page_answer(shape, page, count, map(of, entries))


def require_readable(ids: list[int], size: Callable[[list[int]], int]) -> None:
    """Raise ``validation_error`` for a page of several entries with more than :data:`LARGEST_MIB` of placements and
    fields, before they are read. ``size``: bytes of the entries with given ids. An entry by itself is always read."""
    if size(ids) > LARGEST_MIB * 1024 * 1024 and len(ids) > 1:
        sentence = _(
            "These %(count)d entries have more than %(limit)d MiB of placements and fields. Ask for fewer at a time "
            "with “limit”."
        )
        raise DomainError("validation_error", sentence % {"count": len(ids), "limit": LARGEST_MIB})


def page_answer(shape: type[Any], page: Page, count: int, entries: Iterable[Output | dict[str, Any]]) -> HttpResponse:
    """Answer with a page in its ``shape``, which has ``data`` and ``pagination``."""
    place = Pagination.build(page=page.number, limit=page.limit, count=count, pages=-(-count // page.limit))
    return json_response(shape.build(data=list(entries), pagination=place))


def page_of_rows(
    rows: QuerySet[Row], resource: str, scope: TenantScope, selection: Selection, page: Page
) -> tuple[int, QuerySet[Row]]:
    """Return the number of selected rows, and the rows of the page. ``rows``: all of the caller's rows of the resource.

    Makes one query for the days, one for each end that is no whole day, and one for the page, when it is read.
    """
    first, last = _whole_days(selection)
    chosen = selection.of(rows)
    if first > last or selection.external_id:  # few rows, of which there are no daily counts
        return _count(chosen), chosen[page.offset : page.offset + page.limit]
    after, before, falling = selection.after, selection.before, selection.descending
    early = _count(chosen.filter(created_at__lt=_midnight(first))) if after and after != _midnight(first) else 0
    late = _count(chosen.filter(created_at__gte=_after(last))) if before and before != _end(last) else 0
    ahead, behind = (late, early) if falling else (early, late)
    skipped = max(0, page.offset - ahead)
    start = usage.start_of_page(scope, resource, selection.status, (first, last), skipped, descending=falling)
    count = ahead + start.count + behind
    if page.offset >= count:
        return count, chosen.none()
    if page.offset < ahead:
        skip, bound = page.offset, dict[str, datetime]()
    elif page.offset >= ahead + start.count or start.day is None:
        skip = page.offset - ahead - start.count
        bound = {"created_at__lt": _midnight(first)} if falling else {"created_at__gte": _after(last)}
    else:
        skip = page.offset - ahead - start.before
        bound = {"created_at__lt": _after(start.day)} if falling else {"created_at__gte": _midnight(start.day)}
    return count, chosen.filter(**bound)[skip : skip + page.limit]


def _whole_days(selection: Selection) -> tuple[date, date]:
    """Return the first and the last day that lie wholly between the bounds."""
    first, last = date.min, date.max
    if selection.after:
        first = selection.after.date()
        if selection.after > _midnight(first):
            first = first + timedelta(days=1) if first < date.max else date.max
    if selection.before:
        last = selection.before.date()
        if selection.before < _end(last):
            last = last - timedelta(days=1) if last > date.min else date.min
    return first, last


def _count(rows: QuerySet[Row]) -> int:
    return rows.order_by().count()


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _end(day: date) -> datetime:
    return datetime.combine(day, time.max, UTC)


def _after(day: date) -> datetime:
    return _midnight(day + timedelta(days=1))


def _number(query: QueryDict, name: str, default: int) -> int:
    number = _PAGE_NUMBER.fullmatch(query.get(name, ""))
    if number is None:
        return default
    return int(number[1]) if len(number[1]) <= _MOST_DIGITS else 10**_MOST_DIGITS - 1
