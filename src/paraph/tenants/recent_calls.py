"""How often keys were used lately."""

from collections.abc import Iterable
from typing import NamedTuple

from paraph.kernel import clock
from paraph.tenants.models import KeyUsage


class RecentCalls(NamedTuple):
    """Calls in the clock hour that runs, and in the one before."""

    this_hour: int = 0
    hour_before: int = 0

    @property
    def together(self) -> int:
        return self.this_hour + self.hour_before


def recent_calls(key_ids: Iterable[int]) -> dict[int, RecentCalls]:
    """Returns the recent calls with each of the keys, by key. A crash of the database starts these counters anew."""
    hour = int(clock.now().timestamp()) // 3600
    known = KeyUsage.objects.in_bulk(list(key_ids))
    return {key_id: _recent(known.get(key_id), hour) for key_id in key_ids}


def _recent(usage: KeyUsage | None, hour: int) -> RecentCalls:
    if usage is None:
        return RecentCalls()
    if usage.hour >= hour:
        return RecentCalls(usage.calls, usage.calls_before)
    return RecentCalls(0, usage.calls) if usage.hour == hour - 1 else RecentCalls()
