"""Claims: no delivery goes to two workers or is lost with one, and a dead endpoint delays nobody. The retry table, with
a moved clock (rule 6.1), and deliveries that an operator sends again."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import chain
from uuid import uuid4

import pytest
from django.db import connection

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.outbound.exchange import PostResult
from paraph.signature_requests.models import SignatureRequest
from paraph.webhooks.all_deliveries import latest_deliveries, prune, replay_delivery, replay_request, replay_since
from paraph.webhooks.delivery_queue import (
    _OPEN,
    AT_ONCE,
    AT_ONCE_IN_TROUBLE,
    LEASE,
    EndpointLoad,
    claim,
    record_outcomes,
    shares,
)
from paraph.webhooks.models import Attempt, Delivery
from tests.factories import Scene
from tests.threads import at_once
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

_TABLE = Delivery._meta.db_table


def test_oldest_first_and_each_once() -> None:
    made, _ = told()
    for number in range(5):
        record(made.request, "signer.notified", made.signers[0], clock.now() - timedelta(seconds=number))
    expected = list(Delivery.objects.order_by("due_at").values_list("pk", flat=True))
    claimed = sorted(item.delivery_id for item in claim_now(free=3))
    assert claimed == sorted(expected[:3])
    assert sorted(item.delivery_id for item in claim_now()) == sorted(expected[3:])
    assert claim_now() == []


def test_a_claim_leaves_all_indexes_as_they_are() -> None:
    def updates() -> tuple[int, int]:
        """Return how many rows of deliveries this session has updated, and how many of those without touching an index,
        since it last reported its statistics to the server."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = %s", [_TABLE])
            updated, hot = cursor.fetchone()
        return updated, hot

    made, _ = told()
    record(made.request, "request.expired")
    before = updates()
    assert len(claim_now()) == 1
    assert tuple(after - known for after, known in zip(updates(), before, strict=True)) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_claims_at_the_same_instant_never_share_a_delivery() -> None:
    for _ in range(6):
        made, _ = told()
        for _ in range(10):
            record(made.request, "signer.notified", made.signers[0])

    def work() -> list[int]:
        return [item.delivery_id for _ in range(10) for item in claim(5, 5, clock.now())]

    claimed = Counter(chain.from_iterable(at_once(*[work] * 4)))
    assert len(claimed) == 60
    assert set(claimed.values()) == {1}
    assert Attempt.objects.count() == 60


def test_what_a_dead_worker_held_is_sent_again_under_the_same_id() -> None:
    """A worker that was only thought dead may still settle the delivery."""
    made, _ = told()
    record(made.request, "request.expired")
    now = clock.now()
    [first] = prepared_deliveries(now)
    assert claim_now(now + LEASE) == []
    [second] = prepared_deliveries(now + LEASE + timedelta(seconds=1))
    assert second.claimed.attempt_id == first.claimed.attempt_id
    assert Attempt.objects.count() == 1 and Delivery.objects.get().failures == 0
    record_outcomes([(first.claimed.attempt_id, ACCEPTED)], now)
    record_outcomes([(first.claimed.attempt_id, REFUSED)], now)
    assert Delivery.objects.get().status == "delivered"


@pytest.mark.parametrize("believed", ["few", "many"])
def test_a_long_backlog_takes_only_its_endpoints_slots(believed: str) -> None:
    """Callbacks to many paths of one host are one endpoint. The number of deliveries that PostgreSQL's
    planner assumes changes how it joins, and nothing else."""
    with connection.cursor() as cursor:
        if believed == "few":
            told()
            cursor.execute("ANALYZE webhooks_delivery")
        else:
            cursor.execute("SET LOCAL enable_nestloop = off")
    loud, _ = told("https://loud.example/in")
    for number in range(50):
        loud.request.callback_url = f"https://loud.example/{number}"
        record(loud.request, "request.expired")
    quiet, _ = told("https://quiet.example/in")
    record(quiet.request, "request.expired")
    claimed = Counter(item.request_id for item in claim_now())
    assert claimed == {loud.request.pk: AT_ONCE, quiet.request.pk: 1}
    assert claim_now() == []


def test_an_endpoint_with_a_failure_gets_fewer_slots_until_it_delivers() -> None:
    made, _ = told()
    now = clock.now()
    record(made.request, "request.expired", occurred_at=now)
    [delivery] = prepared_deliveries(now)
    record_outcomes([(delivery.claimed.attempt_id, REFUSED)], now)
    for _ in range(50):
        record(made.request, "signer.notified", made.signers[0])
    claimed = claim_now(now + timedelta(seconds=30))
    assert len(claimed) == AT_ONCE_IN_TROUBLE
    assert all(item.trouble for item in claimed)
    Delivery.objects.filter(failures__gt=0).update(status="delivered")
    assert len(claim_now(now + timedelta(seconds=30))) == AT_ONCE - AT_ONCE_IN_TROUBLE


def test_endpoints_of_different_applications_do_not_share_a_fate() -> None:
    sick, _ = told("https://shared.example/a")
    well, _ = told("https://shared.example/b")
    now = clock.now()
    record(sick.request, "request.expired", occurred_at=now)
    record_outcomes([(delivery.claimed.attempt_id, REFUSED) for delivery in prepared_deliveries(now)], now)
    record(well.request, "request.expired", occurred_at=now)
    assert [item.trouble for item in claim_now(now + timedelta(seconds=1))] == [False]


def test_settling_finds_its_deliveries_without_reading_all() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {_OPEN}", [[uuid4()]])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "Index" in plan and "Seq Scan" not in plan


def loads(name: str, number: int, due: int, sending: int = 0, *, trouble: bool = False) -> list[EndpointLoad]:
    return [EndpointLoad(name.format(each), due, sending, trouble) for each in range(number)]


def test_slots_are_dealt_to_who_has_the_fewest() -> None:
    """No endpoint gets more slots than it has deliveries due or is allowed, no application more for many endpoints;
    endpoints in trouble take turns, and take no slots from healthy ones."""
    busy, idle = loads("busy", 1, 100, 3), loads("idle", 1, 100)
    assert shares(busy + idle, 5, 5) == {"idle": 4, "busy": 1}
    many = loads("small", 1, 2) + loads("large", 1, 1000, 4) + loads("sick", 1, 1000, 1, trouble=True)
    assert shares(many, 1000, 1000) == {"small": 2, "large": AT_ONCE - 4, "sick": AT_ONCE_IN_TROUBLE - 1}
    given = shares(loads("7 https://{}.example", 1000, 5) + loads("8 https://other.example", 1, 5), 8, 8)
    assert given["8 https://other.example"] == 4 and sum(given.values()) == 8
    assert set(shares(loads("sick-{}", 10, 1000, trouble=True), 400, 20).values()) == {2}
    some = loads("sick-{}", 1000, 1000, trouble=True) + loads("healthy", 1, 5)
    given = shares(some, 400, 200)
    assert given["healthy"] == 5 and sum(given.values()) == 205
    assert shares(some, 200, 0) == {"healthy": 5}


DELAYS = [60, 300, 1500, 7200, 36000]


@pytest.fixture
def now() -> datetime:
    return clock.now()


@pytest.fixture
def due(now: datetime) -> None:
    """Record a delivery that is due."""
    made, _ = told()
    record(made.request, "request.expired", occurred_at=now)


@pytest.mark.usefixtures("due")
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


@pytest.mark.usefixtures("due")
def test_delays_count_from_the_failure_and_an_accepted_retry_ends_it(now: datetime) -> None:
    """Every attempt has its own row and id; characters of an answer that the database cannot hold are replaced."""
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


@pytest.mark.usefixtures("due")
def test_the_body_of_a_retry_is_that_of_the_event(now: datetime) -> None:
    [first] = prepared_deliveries(now)
    record_outcomes([(first.claimed.attempt_id, REFUSED)], now)
    SignatureRequest.objects.update(status="completed")
    [second] = prepared_deliveries(now + timedelta(minutes=1))
    assert first.body == second.body
    assert first.headers["X-Service-Delivery"] != second.headers["X-Service-Delivery"]
    assert first.headers["X-Service-Event-Id"] == second.headers["X-Service-Event-Id"] != "0"


def failed() -> tuple[Scene, Delivery]:
    """A request and its delivery, which has failed after six attempts."""
    made, _ = told()
    now = clock.now() - timedelta(days=2)
    record(made.request, "request.expired", occurred_at=now)
    for _ in range(6):
        answer_all(REFUSED, now)
        now += timedelta(hours=11)
    return made, Delivery.objects.get(request=made.request)


def test_a_failed_delivery_begins_the_retry_table_anew() -> None:
    _, delivery = failed()
    assert replay_delivery(delivery.pk) == 1
    now = clock.now()
    answer_all(REFUSED, now)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.failures, delivery.due_at) == ("waiting", 1, now + timedelta(minutes=1))
    assert Attempt.objects.count() == 7


def test_a_waiting_delivery_is_sent_now_and_one_that_is_being_sent_is_left_alone() -> None:
    made, _ = told()
    record(made.request, "request.expired")
    answer_all(REFUSED, clock.now())
    pk = Delivery.objects.get().pk
    assert claim_now() == []
    assert replay_delivery(pk) == 1
    assert len(claim_now()) == 1
    assert replay_delivery(pk) == 0


def test_a_held_delivery_cannot_be_sent_nor_one_that_is_unknown() -> None:
    made, _ = told()
    record(made.request, "request.completed")
    with pytest.raises(DomainError, match="held until the request's PDFs are sealed"):
        replay_delivery(Delivery.objects.get().pk)
    assert replay_request(made.request.pk) == 0
    assert Delivery.objects.get().status == "held"
    with pytest.raises(DomainError, match=r"There is no delivery 999999\."):
        replay_delivery(999999)
    with pytest.raises(DomainError, match=r"Request 999999 has no deliveries\."):
        replay_request(999999)


def test_by_request_and_since_a_time() -> None:
    made, failure = failed()
    other, _ = told()
    for each in (made, other):
        record(each.request, "signer.notified", each.signers[0])
    answer_all(ACCEPTED, clock.now())
    assert replay_since(failure.occurred_at + timedelta(seconds=1)) == 0
    assert replay_since(failure.occurred_at) == 1
    assert replay_since(failure.occurred_at, delivered_too=True) == 2
    assert len(claim_now()) == 3
    Delivery.objects.update(status="delivered", claimed_at=None)
    assert replay_request(made.request.pk) == 2
    assert {item.request_id for item in claim_now()} == {made.request.pk}


def test_the_overview_tells_the_last_outcome() -> None:
    made, failure = failed()
    record(made.request, "signer.notified", made.signers[0])
    answer_all(REFUSED, clock.now())
    waiting, gone = latest_deliveries(failed_only=False, limit=10)
    assert latest_deliveries(failed_only=True, limit=10) == [gone]
    assert (gone["id"], gone["status"], gone["attempts"], gone["last_status"]) == (failure.pk, "failed", 6, 500)
    assert gone["next_attempt_at"] is None
    assert (waiting["event"], waiting["status"], waiting["attempts"]) == ("signer.notified", "waiting", 1)
    assert waiting["next_attempt_at"] is not None
    assert len(latest_deliveries(failed_only=False, limit=1)) == 1


def test_what_ended_long_ago_is_pruned_and_nothing_else() -> None:
    made, failure = failed()
    record(made.request, "request.completed")
    record(made.request, "signer.notified", made.signers[0])
    assert failure.finished_at
    assert prune(30, failure.finished_at + timedelta(days=30)) == 0
    assert prune(30, failure.finished_at + timedelta(days=30, seconds=1)) == 1
    assert set(Delivery.objects.values_list("status", flat=True)) == {"held", "waiting"}
    assert Attempt.objects.count() == 0
