"""One statement admits a call: it finds the owner of the key, counts it, and notes when the key was used. Counted by
month are calls with a valid key, requests by creation, sends from the dashboard."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection

from paraph.kernel import clock
from paraph.tenants.applications import NewApplication
from paraph.tenants.limits import Calls, admit, next_month
from paraph.tenants.models import ApiKey, MonthlyCalls, Usage
from paraph.tenants.usage import month_of, monthly_usage, recent_calls, take_over_calls, usage_of_all
from tests.factories import scene
from tests.tenancy import create_application, create_organization

pytestmark = pytest.mark.django_db

START = datetime(2026, 3, 1, 10, 0, 20, 500_000, tzinfo=UTC)
MINUTE = int(START.timestamp()) // 60

Move = Callable[..., None]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Move:
    """Return what sets the clock to ``START`` plus so much. Until then it stands at ``START``."""

    def move(**later: int) -> None:
        monkeypatch.setattr(clock, "now", lambda: START + timedelta(**later))

    move()
    return move


@pytest.fixture
def key() -> str:
    return create_application(create_organization("Acme", "pro").pk, "sandbox", "shop").api_key


def calls(key: str) -> Calls:
    admission = admit(key)
    assert admission
    return admission[1]


def test_a_key_brings_its_owner(key: str, at: Move) -> None:
    application = ApiKey.objects.select_related("application").get().application
    admission = admit(key)
    assert admission
    scope, counted = admission
    assert (scope.organization_id, scope.application_id) == (application.organization_id, application.pk)
    assert (scope.environment, scope.plan) == ("sandbox", "pro")
    assert counted == Calls(MINUTE, 1, MINUTE // 60, 1)


def test_without_a_valid_key_nothing_is_counted(key: str) -> None:
    for asked in ("0" * 64, key + "0", key):
        if asked == key:
            ApiKey.objects.update(revoked_at=clock.now())
        assert admit(asked) is None
    assert not Usage.objects.exists() and ApiKey.objects.get().last_used_at is None


def test_last_used_at_is_written_once_a_second(key: str, at: Move) -> None:
    for milliseconds, written in ((0, 0), (400, 0), (600, 600), (700, 600), (-90_000, 600), (2000, 2000)):
        at(milliseconds=milliseconds)
        calls(key)
        assert ApiKey.objects.get().last_used_at == START + timedelta(milliseconds=written)


def test_a_window_counts_on_or_begins_anew(key: str, at: Move) -> None:
    calls(key)
    for minutes, hours, minute, hour in (
        (0, 0, (0, 6), (0, 6)),
        (1, 1, (1, 6), (1, 6)),  # another server's clock
        (2, 2, (0, 1), (0, 1)),  # a clock set back
        (-1, 0, (0, 1), (0, 6)),
        (-60, -1, (0, 1), (0, 1)),
    ):
        Usage.objects.update(minute=MINUTE + minutes, hour=MINUTE // 60 + hours, minute_calls=5, hour_calls=5)
        assert calls(key) == Calls(MINUTE + minute[0], minute[1], MINUTE // 60 + hour[0], hour[1])


@pytest.mark.django_db(transaction=True)
def test_it_is_planned_once_for_a_connection(at: Move) -> None:
    connection.close()
    key = create_application(create_organization("Acme", "pro").pk, "sandbox", "shop").api_key
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = on")  # as in production, unlike in tests
    for _ in range(9):
        assert admit(key)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT custom_plans, generic_plans FROM pg_prepared_statements WHERE statement LIKE '%last_used_at%'"
        )
        assert cursor.fetchall() == [(5, 4)]  # five custom plans to compare with, and then the one that stays
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == ("on",)  # only the count's own commit does not wait for the disk


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
