"""Counts against ceilings: windows that end at any time, several at once, and when a count is forgotten."""

from datetime import timedelta

import pytest

from paraph.counts.counting import KEPT_FOR_GOOD, Ceiling, count, forget, give_back, number_of
from paraph.counts.models import Count
from paraph.kernel import clock
from paraph.tenants.limits import count_bad_call

pytestmark = pytest.mark.django_db
HOUR, DAY = Ceiling("a", 3600, 1), Ceiling("a", 86400, 2)


def moved(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    moment = clock.now() + by
    monkeypatch.setattr(clock, "now", lambda: moment)


def test_positions_come_in_the_order_of_the_ceilings() -> None:
    for number in (1, 2):
        positions = count([DAY, HOUR])
        assert [(each.ceiling, each.number) for each in positions] == [(DAY, number), (HOUR, number)]
    assert [each.is_beyond for each in positions] == [False, True]
    give_back(positions)
    assert [each.number for each in count([DAY, HOUR])] == [2, 2]


def test_each_window_is_over_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    count([HOUR, DAY])
    moved(monkeypatch, timedelta(hours=1))
    assert [each.number for each in count([HOUR, DAY])] == [1, 2]


@pytest.mark.parametrize(("back", "number"), [(timedelta(minutes=9), 2), (timedelta(minutes=11), 1)])
def test_a_window_that_ends_too_late_is_over(monkeypatch: pytest.MonkeyPatch, back: timedelta, number: int) -> None:
    count([HOUR])
    moved(monkeypatch, -back)
    assert count([HOUR])[0].number == number


def test_what_is_kept_for_good_counts_on_whatever_the_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Ceiling("sends", 0, 0)
    count([kept], KEPT_FOR_GOOD)
    for by in (timedelta(days=4000), timedelta(days=-8000)):
        moved(monkeypatch, by)
        forget()
        count([kept], KEPT_FOR_GOOD)
    assert number_of("sends") == 3


def test_calls_with_wrong_keys_leave_few_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(120):
        count_bad_call(f"192.0.2.{number}")
    assert Count.objects.count() == 120 and not Count.objects.filter(scope__contains="192.0.2").exists()
    moved(monkeypatch, timedelta(minutes=12))
    count_bad_call("198.51.100.1")
    assert Count.objects.count() == 21
    count_bad_call("198.51.100.2")
    assert Count.objects.count() == 2
