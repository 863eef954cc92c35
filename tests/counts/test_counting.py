"""Counts against ceilings: windows that end at any time, several at once, and when a count is forgotten."""

from datetime import timedelta

import pytest

from paraph.counts.counting import KEPT_FOR_GOOD, Ceiling, count, forget, give_back, number_of
from paraph.counts.models import Count
from paraph.flow.housekeeping.sweep import sweep
from paraph.kernel import clock
from paraph.messaging.models import PutOffMail
from paraph.tenants.limits import count_bad_call
from tests.threads import at_once

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


def test_each_window_is_over_by_itself_and_forgotten_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    count([HOUR, DAY])
    assert forget() == 0
    moved(monkeypatch, timedelta(hours=1))
    assert [each.number for each in count([HOUR, DAY])] == [1, 2]
    moved(monkeypatch, timedelta(hours=2))
    assert forget() == 1
    PutOffMail.objects.create(name="invitation-1", until=clock.now(), reason="x")
    moved(monkeypatch, timedelta(hours=25))
    sweep()
    assert not Count.objects.exists() and not PutOffMail.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_no_more_than_allowed_pass() -> None:
    ceilings = [Ceiling("a", 3600, 7), Ceiling("b", 86400, 100), Ceiling("a", 86400, 9)]
    passed: list[bool] = []

    def one() -> None:
        for _ in range(5):
            places = count(ceilings)
            passed.append(not any(place.is_beyond for place in places))
            if not passed[-1]:
                give_back(places)

    at_once(*[one] * 6)
    assert passed.count(True) == 7
    assert Count.objects.get(scope="b").count == 7


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
