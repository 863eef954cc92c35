"""Pages of a collection (specification 4.1)."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict

from paraph.api.v1.responses import json_response
from paraph.tenants.scope import Row

DEFAULT_LIMIT = 20
LARGEST_LIMIT = 100
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


def envelope(rows: QuerySet[Row], query: QueryDict, serialize: Callable[[Row], dict[str, Any]]) -> HttpResponse:
    """The asked page of a short collection, in the order of the rows. Two queries."""
    page = page_of(query)
    count = rows.order_by().count()
    entries = rows[page.offset : page.offset + page.limit] if page.offset < count else ()
    return page_answer(page, count, entries, serialize)


def page_answer(
    page: Page, count: int, entries: Iterable[Row], serialize: Callable[[Row], dict[str, Any]]
) -> HttpResponse:
    return json_response(
        {
            "data": [serialize(row) for row in entries],
            "pagination": {
                "page": page.number,
                "limit": page.limit,
                "count": count,
                "pages": -(-count // page.limit),
            },
        }
    )


def _number(query: QueryDict, name: str, default: int) -> int:
    number = _NUMBER.fullmatch(query.get(name, ""))
    if number is None:
        return default
    return int(number[1]) if len(number[1]) <= _MOST_DIGITS else 10**_MOST_DIGITS - 1
