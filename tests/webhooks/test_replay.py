"""Sending deliveries again when an operator asks for it."""

from datetime import timedelta

import pytest

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.webhooks.all_deliveries import latest_deliveries, prune, replay_delivery, replay_request, replay_since
from paraph.webhooks.models import Attempt, Delivery
from tests.factories import Scene
from tests.webhooks.parties import ACCEPTED, REFUSED, answer_all, claim_now, record, told

pytestmark = pytest.mark.django_db


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
