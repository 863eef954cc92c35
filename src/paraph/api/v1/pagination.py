"""Pages of a collection (rule 4.1).

Lists that grow without end are neither counted nor skipped row by row (docs/decisions/long-lists.md): whole days are
counted by adding up daily counts; what a bound leaves of a day at either end is counted from its rows. A page is read
from the beginning of the day that it begins in.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _

from paraph.api.v1.filters import Selection
from paraph.api.v1.operation import query
from paraph.api.v1.responses import json_response
from paraph.api.v1.shapes import Output, Pagination
from paraph.kernel.errors import DomainError
from paraph.tenants import daily_counts
from paraph.tenants.scope import Row, TenantScope

DEFAULT_LIMIT = 20
LARGEST_LIMIT = 100
LARGEST_MIB = 4
_LENIENT = ["integer", "string"]  # what is no positive number is answered too, with the default
PAGING = (
    query("page", "From 1. What is no positive number is 1.", type=_LENIENT, default=1, examples=[1]),
    query("limit", "Entries of a page. Lowered to 100; what is no positive number is 20.", type=_LENIENT, default=20),
)
_NUMBER = re.compile(r"0*([1-9][0-9]*)", re.ASCII)
_MOST_DIGITS = 18  # a page of more is as empty as the last one of so many


@dataclass(frozen=True)
class Page:
    number: int
    limit: int

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.limit


def page_of(query: QueryDict) -> Page:
    """Lenient: what is absent, negative, zero or no number falls back to the default, a large limit is lowered."""
    return Page(_number(query, "page", 1), min(_number(query, "limit", DEFAULT_LIMIT), LARGEST_LIMIT))


def envelope(
    shape: type[Any],
    rows: QuerySet[Row],
    query: QueryDict,
    of: Callable[[Row], Output],
    size: Callable[[list[int]], int] | None = None,
) -> HttpResponse:
    """Answer with the asked page of a short collection, in the order of the rows. Two queries. ``size``: as of
    :func:`require_readable`."""
    page = page_of(query)
    count = rows.order_by().count()
    entries = rows[page.offset : page.offset + page.limit] if page.offset < count else ()
    if size and page.offset < count:
        require_readable(list(rows.values_list("pk", flat=True)[page.offset : page.offset + page.limit]), size)
    return page_answer(shape, page, count, map(of, entries))


def require_readable(ids: list[int], size: Callable[[list[int]], int]) -> None:
    """Raise ``validation_error`` for a page of several entries with more than :data:`LARGEST_MIB` of placements and
    fields, before they are read. ``size``: bytes of those that have these ids. An entry by itself is always read."""
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
    """Return the number of selected rows and those of the page. ``rows`` are all of the caller's rows of the resource.

    A query for the days, one for each end that is no whole day, and one for the page, when it is read.
    """
    first, last = _whole_days(selection)
    chosen = selection.of(rows)
    if first > last or selection.external_id:  # few rows, and no daily counts of them
        return chosen.order_by().count(), chosen[page.offset : page.offset + page.limit]
    early = _count(chosen.filter(created_at__lt=_midnight(first))) if _is_moment(selection.after, first) else 0
    late = _count(chosen.filter(created_at__gte=_after(last))) if _ends_within(selection.before, last) else 0
    ahead, behind = (late, early) if selection.descending else (early, late)
    days = daily_counts.Days(scope, resource, selection.status, first, last, selection.descending)
    start = daily_counts.start(days, max(0, page.offset - ahead))
    count = ahead + start.count + behind
    if page.offset >= count:
        return count, chosen.none()
    if page.offset < ahead:
        skip = page.offset
    elif page.offset >= ahead + start.count or start.day is None:
        skip = page.offset - ahead - start.count
        chosen = _beyond(chosen, first if selection.descending else last, selection.descending)
    else:
        skip = page.offset - ahead - start.before
        chosen = _from(chosen, start.day, selection.descending)
    return count, chosen[skip : skip + page.limit]


def _whole_days(selection: Selection) -> tuple[date, date]:
    """Return the first and the last day that lie wholly between the bounds."""
    first, last = date.min, date.max
    if selection.after:
        first = selection.after.date()
        if selection.after > _midnight(first):
            first = first + timedelta(days=1) if first < date.max else date.max
    if selection.before:
        last = selection.before.date()
        if selection.before < datetime.combine(last, time.max, UTC):
            last = last - timedelta(days=1) if last > date.min else date.min
    return first, last


def _is_moment(after: datetime | None, first: date) -> bool:
    return after is not None and after != _midnight(first)


def _ends_within(before: datetime | None, last: date) -> bool:
    return before is not None and before != datetime.combine(last, time.max, UTC)


def _from(rows: QuerySet[Row], day: date, descending: bool) -> QuerySet[Row]:
    return rows.filter(created_at__lt=_after(day)) if descending else rows.filter(created_at__gte=_midnight(day))


def _beyond(rows: QuerySet[Row], day: date, descending: bool) -> QuerySet[Row]:
    return rows.filter(created_at__lt=_midnight(day)) if descending else rows.filter(created_at__gte=_after(day))


def _count(rows: QuerySet[Row]) -> int:
    return rows.order_by().count()


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _after(day: date) -> datetime:
    return _midnight(day + timedelta(days=1))


def _number(query: QueryDict, name: str, default: int) -> int:
    number = _NUMBER.fullmatch(query.get(name, ""))
    if number is None:
        return default
    return int(number[1]) if len(number[1]) <= _MOST_DIGITS else 10**_MOST_DIGITS - 1
