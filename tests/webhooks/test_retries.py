"""The retry table, by a moved clock (rule 6.1)."""

from datetime import datetime, timedelta

import pytest

from paraph.kernel import clock
from paraph.outbound.exchange import PostResult
from paraph.signature_requests.models import SignatureRequest
from paraph.webhooks.delivery_queue import record_outcomes
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
    """Every attempt has its own row and id; what the database cannot hold of its answer is replaced."""
    late = now + timedelta(hours=3)
    odd = PostResult(500, b"\x00\xff\xfe", "a\x00\ud800b", 0)
    moments = [late, late + timedelta(minutes=1), late + timedelta(minutes=6)]
    for moment, result in zip(moments, (UNREACHABLE, odd, ACCEPTED), strict=True):
        assert answer_all(result, moment) == 1
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.failures) == ("delivered", 2)
    assert claim_now(late + timedelta(days=1)) == []
    rows = list(Attempt.objects.order_by("started_at"))
    assert [(row.status_code, row.error, row.response, row.duration_ms) for row in rows] == [
        (None, "ConnectError: refused", "", 1),
        (500, "a\ufffd?b", "\ufffd\ufffd\ufffd", 0),
        (200, "", "ok", 12),
    ]
    assert [row.started_at for row in rows] == moments
    assert len({row.pk for row in rows}) == 3 and {row.pk.version for row in rows} == {4}


def test_the_body_of_a_retry_is_that_of_the_event(now: datetime) -> None:
    [first] = prepared_deliveries(now)
    record_outcomes([(first.claimed.attempt_id, REFUSED)], now)
    SignatureRequest.objects.update(status="completed")
    [second] = prepared_deliveries(now + timedelta(minutes=1))
    assert first.body == second.body
    assert first.headers["X-Service-Delivery"] != second.headers["X-Service-Delivery"]
    assert first.headers["X-Service-Event-Id"] == second.headers["X-Service-Event-Id"] != "0"
