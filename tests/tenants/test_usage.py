"""What is counted: calls with a valid key by month and by hour, requests by creation, sends from the dashboard."""

from datetime import UTC, date, datetime, timedelta

import pytest

from paraph.kernel import clock
from paraph.tenants.applications import NewApplication
from paraph.tenants.limits import admit, next_month
from paraph.tenants.models import MonthlyCalls
from paraph.tenants.usage import month_of, monthly_usage, recent_calls, take_over_calls, usage_of_all
from tests.factories import scene
from tests.tenancy import create_application, create_organization

pytestmark = pytest.mark.django_db


def test_calls_count_in_the_month_of_the_call_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counts stay the same when they are moved to the months, also when that is done twice."""
    organization = create_organization("Analytical Engines", "pro")
    key = create_application(organization.pk, "sandbox", "Backend").api_key
    last, first = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    for number, moment in enumerate((last, last, first, first), 1):
        monkeypatch.setattr(clock, "now", lambda moment=moment: moment)
        assert admit(key) and not admit("0" * 64)
        month, calls = moment.date().replace(day=1), number if number < 3 else number - 2
        for _ in range(3):
            used = monthly_usage(month, organization.pk)[organization.pk]
            assert used.calls == {"sandbox": calls, "production": 0}
            take_over_calls()
    assert list(MonthlyCalls.objects.order_by("month").values_list("month", "calls")) == [
        (date(2026, 1, 1), 2),
        (date(2026, 2, 1), 2),
    ]


def test_requests_count_by_environment_and_those_of_the_api_are_billed() -> None:
    stage = scene()
    month = clock.now().date().replace(day=1)
    used = monthly_usage(month)[stage.request.organization_id]
    assert sum(used.requests.values()) == 1 and used.requests[stage.request.environment] == 1
    used.requests["production"], used.web_sends = 5, 2
    assert used.billed_requests == 3
    rows = usage_of_all(month)
    assert [row["requests"] for row in rows if row["organization_id"] == stage.request.organization_id] == [
        monthly_usage(month)[stage.request.organization_id].requests
    ]


def test_months_are_written_with_year_and_month() -> None:
    assert month_of("2026-12") == date(2026, 12, 1) and next_month(date(2026, 12, 1)) == date(2027, 1, 1)
    for text in ("2026-13", "2026-1", "2026-12-01", "december"):
        with pytest.raises(ValueError):
            month_of(text)


def test_each_key_has_its_own_count_that_moves_with_the_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    organization = create_organization("Acme", "pro")
    one, other = (create_application(organization.pk, "sandbox", name) for name in ("one", "other"))
    numbers = [made.application.keys.get().pk for made in (one, other)]
    moment = datetime(2030, 5, 17, 9, 0, tzinfo=UTC)

    def at(later: timedelta, *called: NewApplication) -> list[tuple[int, int]]:
        monkeypatch.setattr(clock, "now", lambda: moment + later)
        for each in called:
            admit(each.api_key)
        return [tuple(recent_calls(numbers)[number]) for number in numbers]  # type: ignore[misc]

    hour = timedelta(hours=1)
    assert at(0 * hour) == [(0, 0), (0, 0)]
    assert at(0 * hour, one, other) == [(1, 0), (1, 0)]
    at(-timedelta(seconds=1), one)  # a clock that is a little behind counts in the same hour
    assert at(0 * hour) == [(2, 0), (1, 0)]
    assert at(hour) == [(0, 2), (0, 1)]
    assert at(hour, one) == [(1, 2), (0, 1)]
    assert at(2 * hour) == [(0, 1), (0, 0)]
    assert at(3 * hour) == [(0, 0), (0, 0)]
    assert at(3 * hour, other) == [(0, 0), (1, 0)]
