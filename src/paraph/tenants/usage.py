"""What organizations used in a month: calls of the API, requests, sends from the dashboard (rule 8). And counting and
skipping rows of lists without looking at them (docs/decisions/long-lists.md)."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Sum

from paraph.counts.models import Count
from paraph.kernel import clock
from paraph.tenants.limits import next_month, sends_scope
from paraph.tenants.models import DailyCount, Environment, KeyUsage, MonthlyCalls, Organization, Usage
from paraph.tenants.scope import TenantScope, scoped

# The rows are locked before they are read, so that no call is counted twice or lost.
_TAKE_OVER = """
WITH held AS (
    SELECT organization_id, environment, month, month_calls, earlier_month, earlier_calls FROM organizations_usage
    WHERE month_calls > 0 OR earlier_calls > 0 FOR UPDATE
), emptied AS (
    UPDATE organizations_usage AS usage SET month_calls = 0, earlier_calls = 0 FROM held
    WHERE usage.organization_id = held.organization_id AND usage.environment = held.environment
)
INSERT INTO organizations_monthlycalls AS known (organization_id, environment, month, calls)
SELECT organization_id, environment, month, month_calls FROM held WHERE month_calls > 0
UNION ALL
SELECT organization_id, environment, earlier_month, earlier_calls FROM held WHERE earlier_calls > 0
ON CONFLICT (organization_id, environment, month) DO UPDATE SET calls = known.calls + EXCLUDED.calls
"""


@dataclass
class MonthlyUsage:
    """``calls`` and ``requests`` by environment. Calls are those with a valid key, even if refused; requests count on
    the day of their creation (UTC), whatever their status. ``web_sends``: those of production from the dashboard."""

    calls: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Environment.values, 0))
    requests: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Environment.values, 0))
    web_sends: int = 0

    @property
    def billed_requests(self) -> int:
        """Return the number of requests that the API created in production, which is what is billed by usage."""
        return max(self.requests[Environment.PRODUCTION] - self.web_sends, 0)


def month_of(text: str) -> date:
    """Return the first day of a month written YYYY-MM. Raise ``ValueError``."""
    if len(text) != len("2026-01"):
        raise ValueError(text)
    return date.fromisoformat(f"{text}-01")


def take_over_calls() -> None:
    """Add the calls that were counted since the last run to those of their months. Safe to repeat."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_OVER)


def monthly_usage(month: date, organization_id: int | None = None) -> dict[int, MonthlyUsage]:
    """Return the usage of an organization, or of all that used anything, by id. ``month``: its first day."""
    of = {} if organization_id is None else {"organization_id": organization_id}
    used: dict[int, MonthlyUsage] = defaultdict(MonthlyUsage)
    for calls in MonthlyCalls.objects.filter(month=month, **of):
        used[calls.organization_id].calls[calls.environment] = calls.calls
    for held in Usage.objects.filter(**of):
        newest = held.month_calls if held.month == month else 0
        earlier = held.earlier_calls if held.earlier_month == month else 0
        if newest or earlier:
            used[held.organization_id].calls[held.environment] += newest + earlier
    created = DailyCount.objects.filter(resource="signature_requests", day__gte=month, day__lt=next_month(month), **of)
    for owner, environment, count in created.values_list("organization_id", "environment").annotate(Sum("count")):
        used[owner].requests[environment] = count
    sends = Count.objects.filter(scope__startswith=sends_scope(month, ""))
    if organization_id is not None:
        sends = Count.objects.filter(scope=sends_scope(month, organization_id))
    for scope, sent in sends.values_list("scope", "count"):
        used[int(scope.rpartition(":")[2])].web_sends = sent
    return used


def usage_of_all(month: date) -> list[dict[str, Any]]:
    """List every organization, deleted ones too, with its use in the month."""
    used = monthly_usage(month)
    return [
        {
            "organization_id": row.pk,
            "name": row.name,
            "plan": row.plan,
            "month": f"{month:%Y-%m}",
            "api_calls": of.calls,
            "requests": of.requests,
            "web_sends": of.web_sends,
            "billed_requests": of.billed_requests,
        }
        for row in Organization.objects.order_by("pk")
        for of in [used.get(row.pk, MonthlyUsage())]
    ]


class RecentCalls(NamedTuple):
    """Calls in the current clock hour, and in the one before."""

    this_hour: int = 0
    hour_before: int = 0

    @property
    def together(self) -> int:
        return self.this_hour + self.hour_before


def recent_calls(key_ids: Iterable[int]) -> dict[int, RecentCalls]:
    """Return the recent calls with each of the keys, by key. A crash of the database starts these counters anew."""
    hour = int(clock.now().timestamp()) // 3600
    known = KeyUsage.objects.in_bulk(list(key_ids))
    return {key_id: _recent(known.get(key_id), hour) for key_id in key_ids}


def _recent(usage: KeyUsage | None, hour: int) -> RecentCalls:
    if usage is None:
        return RecentCalls()
    if usage.hour >= hour:
        return RecentCalls(usage.calls, usage.calls_before)
    return RecentCalls(0, usage.calls) if usage.hour == hour - 1 else RecentCalls()


# Finds the number of rows of all days, the day on which a page begins, and the number of rows before that day.
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
class Start:
    """Where a page begins. ``count``: the number of all rows; ``day``: that of the page's first row, None without rows;
    ``before``: the number of rows of the days that come before it in the order of the list."""

    count: int
    day: date | None
    before: int


def start_of_page(
    scope: TenantScope, resource: str, status: str, days: tuple[date, date], offset: int, *, descending: bool
) -> Start:
    """Return where a page that begins at ``offset`` starts, among the caller's rows of a resource that have the status
    ("" for any) and were created on these ``days`` (first and last). Reads only a row for each day and status."""
    values = {"resource": resource, "status": status, "first": days[0], "last": days[1], "offset": offset}
    with connection.cursor() as cursor:
        cursor.execute(_DAYS.format(direction="DESC" if descending else "ASC"), scope.columns | values)
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
