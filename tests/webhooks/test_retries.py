"""The retry table, by a moved clock (rule 6.1)."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest
from paraph.webhooks.delivery_queue import next_attempt, record_outcomes
from paraph.webhooks.models import Attempt, Delivery
from tests.webhooks.parties import (
    ACCEPTED,
    REFUSED,
    UNREACHABLE,
    answer_all,
    claim_now,
    prepared_deliveries,
    record,
    told,
)

pytestmark = pytest.mark.django_db

DELAYS = [60, 300, 1500, 7200, 36000]


@pytest.fixture
def now() -> datetime:
    return clock.now()


@pytest.fixture(autouse=True)
def delivery(now: datetime) -> None:
    made, _ = told()
    record(made.request, "request.expired", occurred_at=now)


def test_five_retries_at_their_times_then_failed(now: datetime) -> None:
    for failures, delay in enumerate(DELAYS, start=1):
        assert answer_all(REFUSED, now) == 1
        delivery = Delivery.objects.get()
        assert (delivery.status, delivery.failures) == ("waiting", failures)
        assert delivery.due_at == now + timedelta(seconds=delay)
        assert claim_now(delivery.due_at - timedelta(milliseconds=1)) == []
        now = delivery.due_at
    assert answer_all(UNREACHABLE, now) == 1
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.finished_at) == ("failed", now)
    assert claim_now(now + timedelta(days=365)) == []
    assert Attempt.objects.count() == 6


def test_delays_count_from_the_failure_and_an_accepted_retry_ends_it(now: datetime) -> None:
    late = now + timedelta(hours=3)
    answer_all(REFUSED, late)
    assert Delivery.objects.get().due_at == late + timedelta(minutes=1)
    answer_all(ACCEPTED, late + timedelta(minutes=1))
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.failures) == ("delivered", 1)
    assert claim_now(late + timedelta(days=1)) == []


def test_every_attempt_has_its_own_row_and_id(now: datetime) -> None:
    answer_all(REFUSED, now)
    answer_all(UNREACHABLE, now + timedelta(minutes=1))
    answer_all(ACCEPTED, now + timedelta(minutes=6))
    rows = list(Attempt.objects.order_by("started_at"))
    assert [(row.status_code, row.error, row.response, row.duration_ms) for row in rows] == [
        (500, "", "oh no", 34),
        (None, "ConnectError: refused", "", 1),
        (200, "", "ok", 12),
    ]
    assert len({row.pk for row in rows}) == 3
    assert [row.started_at for row in rows] == [now, now + timedelta(minutes=1), now + timedelta(minutes=6)]


def test_the_body_of_a_retry_is_that_of_the_event(now: datetime) -> None:
    [first] = prepared_deliveries(now)
    record_outcomes([(first.claimed.attempt_id, REFUSED)], now)
    SignatureRequest.objects.update(status="completed")
    [second] = prepared_deliveries(now + timedelta(minutes=1))
    assert first.body == second.body
    assert first.headers["X-Service-Delivery"] != second.headers["X-Service-Delivery"]
    assert first.headers["X-Service-Event-Id"] == second.headers["X-Service-Event-Id"] != "0"


def test_what_the_database_cannot_hold_is_replaced(now: datetime) -> None:
    [delivery] = prepared_deliveries(now)
    record_outcomes([(delivery.claimed.attempt_id, type(REFUSED)(500, b"\x00\xff\xfe", "a\x00\ud800", 0))], now)
    attempt = Attempt.objects.get()
    assert (attempt.response, attempt.error) == ("���", "a�?")


def test_the_table(now: datetime) -> None:
    waits = [next_attempt(failures, now) for failures in range(1, 7)]
    assert [(wait - now).total_seconds() if wait else None for wait in waits] == [*DELAYS, None]
    assert UUID(str(prepared_deliveries(now)[0].claimed.attempt_id)).version == 4
