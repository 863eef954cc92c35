"""Calls by key: of the clock hour that runs, and of the one before."""

from datetime import UTC, datetime, timedelta

import pytest

from paraph.kernel import clock
from paraph.tenants.admission import admit
from paraph.tenants.usage import recent_calls
from tests.tenancy import create_application, create_organization

pytestmark = pytest.mark.django_db


def test_each_key_has_its_own_count_that_moves_with_the_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    organization = create_organization("Acme", "pro")
    one, other = (create_application(organization.pk, "sandbox", name) for name in ("one", "other"))
    numbers = [made.application.keys.get().pk for made in (one, other)]
    moment = datetime(2030, 5, 17, 8, 50, tzinfo=UTC)

    def at(later: timedelta) -> list[tuple[int, int]]:
        monkeypatch.setattr(clock, "now", lambda: moment + later)
        return [tuple(recent_calls(numbers)[number]) for number in numbers]  # type: ignore[misc]

    assert at(timedelta(0)) == [(0, 0), (0, 0)]
    admit(one.api_key)
    admit(one.api_key)
    admit(other.api_key)
    assert at(timedelta(0)) == [(2, 0), (1, 0)]
    assert at(timedelta(hours=1)) == [(0, 2), (0, 1)]
    admit(one.api_key)
    assert at(timedelta(hours=1)) == [(1, 2), (0, 1)]
    assert at(timedelta(hours=2)) == [(0, 1), (0, 0)]
    assert at(timedelta(hours=3)) == [(0, 0), (0, 0)]
    admit(other.api_key)
    assert at(timedelta(hours=3)) == [(0, 0), (1, 0)]


def test_a_clock_a_little_behind_counts_on(monkeypatch: pytest.MonkeyPatch) -> None:
    made = create_application(create_organization("Acme", "pro").pk, "sandbox", "one")
    number, moment = made.application.keys.get().pk, datetime(2030, 5, 17, 9, 0, tzinfo=UTC)
    for seconds in (0, -1, 1):
        monkeypatch.setattr(clock, "now", lambda seconds=seconds: moment + timedelta(seconds=seconds))
        admit(made.api_key)
    assert recent_calls([number])[number] == (3, 0)
