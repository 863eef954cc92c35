"""Counting and skipping rows without looking at them (docs/decisions/long-lists.md)."""

from dataclasses import dataclass
from datetime import date

from django.db import connection
from django.db.models import Sum

from paraph.tenants.models import DailyCount
from paraph.tenants.scope import TenantScope, scoped

# The day that a page begins in, the rows before that day, and the rows of all days.
_DAYS = """
WITH days AS (
    SELECT day, sum(count) AS rows FROM organizations_tally
    WHERE organization_id = %(organization_id)s AND environment = %(environment)s AND resource = %(resource)s
      AND day BETWEEN %(first)s AND %(last)s AND (%(status)s = '' OR status = %(status)s)
    GROUP BY day
), running AS (
    SELECT day, sum(rows) OVER (ORDER BY day {direction}) - rows AS before, rows FROM days
)
SELECT (SELECT coalesce(sum(rows), 0)::bigint FROM days), day, before::bigint
FROM running WHERE before <= %(offset)s AND rows > 0 ORDER BY before DESC LIMIT 1
"""


@dataclass(frozen=True)
class Days:
    """Whole days of a tenant's rows of one resource, of one status ("" for any)."""

    scope: TenantScope
    resource: str
    status: str
    first: date
    last: date
    descending: bool


@dataclass(frozen=True)
class Start:
    """``count`` rows in all; those from ``offset`` on begin in ``day``, after ``before`` rows of earlier ones
    (of later ones, descending). ``day`` is None when there are no rows."""

    count: int
    day: date | None
    before: int


def start(days: Days, offset: int) -> Start:
    """Return where the rows from ``offset`` on begin. One query over a row for each day and status."""
    values = {**vars(days), **days.scope.columns, "offset": offset}
    with connection.cursor() as cursor:
        cursor.execute(_DAYS.format(direction="DESC" if days.descending else "ASC"), values)
        row = cursor.fetchone()
    return Start(*row) if row else Start(0, None, 0)


def by_status(scope: TenantScope, resource: str, first: date = date.min, last: date = date.max) -> dict[str, int]:
    """Return how many rows of each status were created from the first to the last day."""
    rows = scoped(DailyCount, scope).filter(resource=resource, day__gte=first, day__lte=last)
    return dict(rows.values_list("status").annotate(Sum("count")))


def by_day(scope: TenantScope, resource: str, first: date) -> dict[date, int]:
    """Return how many rows were created on each day from the first on; days without any are left out."""
    rows = scoped(DailyCount, scope).filter(resource=resource, day__gte=first)
    counts = dict(rows.values_list("day").annotate(Sum("count")))
    return {day: count for day, count in counts.items() if count}
