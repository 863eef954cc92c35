"""One statement admits a call: it finds the owner of the key, counts the call, and notes when the key was used."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from paraph.kernel import clock
from paraph.tenants.limits import Calls, admit
from paraph.tenants.models import ApiKey, Usage
from tests.tenancy import create_application, create_organization

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
def key(db: None) -> str:
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
