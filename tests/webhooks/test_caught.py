"""What a sandbox application without a webhook URL would have been sent is caught: kept, shown, never sent."""

import json
from datetime import timedelta

import pytest

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.models import Application
from paraph.webhooks import prune as pruning
from paraph.webhooks.deliveries import signed
from paraph.webhooks.models import Delivery
from paraph.webhooks.outbox import release
from paraph.webhooks.overview import deliveries
from paraph.webhooks.payload import signature
from paraph.webhooks.prune import prune
from paraph.webhooks.replay import replay_delivery, replay_request, replay_since
from tests.factories import Scene, sign
from tests.webhooks.parties import claim_now, record, seal_everything, told

pytestmark = pytest.mark.django_db
LATER = timedelta(days=1)


def states() -> list[tuple[str, str, bool]]:
    rows = Delivery.objects.filter(destination="catcher").order_by("pk")
    return [(row.event_type, row.status, row.finished_at is not None) for row in rows]


def caught(number: int, made: Scene) -> list[int]:
    for _ in range(number):
        record(made.request, "request.expired")
    mine = Delivery.objects.filter(application=made.request.application).order_by("pk")
    return list(mine.values_list("pk", flat=True))[-number:]


def test_events_are_caught_as_they_happen_and_nobody_sends_them() -> None:
    made, secret = told(webhook_url="")
    sign(made)
    before = [("signer.otp_sent", "caught", True), ("signer.signed", "caught", True)]
    assert states() == [*before, ("request.completed", "held", False)]
    seal_everything(made)
    release(made.request.pk)
    release(made.request.pk)
    assert states() == [*before, ("request.completed", "caught", True)]
    assert claim_now(clock.now() + LATER) == []
    assert made.request.application
    for row in Delivery.objects.order_by("pk"):
        sent = signed(made.request.application, row, "an attempt")
        assert sent and sent.headers["X-Service-Signature"] == signature(secret, sent.body)
        assert sent.headers["X-Service-Event-Id"] == str(row.entry_id)
        assert json.loads(sent.body).items() >= json.loads(row.payload).items()
    assert sent and json.loads(sent.body)["certificate_url"]


def test_the_payload_is_that_of_an_application_with_a_url() -> None:
    made, _ = told(webhook_url="")
    moment = clock.now()
    record(made.request, "signer.signed", made.signers[0], moment)
    Application.objects.update(webhook_url="https://hooks.example/in")
    made.request.refresh_from_db()
    record(made.request, "signer.signed", made.signers[0], moment)
    first, second = Delivery.objects.order_by("pk")
    assert (first.destination, first.url, second.destination) == ("catcher", "", "application")
    assert first.payload == second.payload


def test_production_catches_nothing() -> None:
    made, _ = told(webhook_url="", environment="production")
    sign(made)
    assert not Delivery.objects.exists()


def test_what_was_caught_is_never_sent_again_and_operators_do_not_see_it() -> None:
    made, _ = told(webhook_url="")
    [pk] = caught(1, made)
    with pytest.raises(DomainError, match="had no webhook URL"):
        replay_delivery(pk)
    with pytest.raises(DomainError, match="has no deliveries"):
        replay_request(made.request.pk)
    assert replay_since(clock.now() - LATER, delivered_too=True) == 0
    assert deliveries(failed_only=False, limit=9) == []


def test_the_newest_of_each_application_are_kept_until_their_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "CAUGHT_KEPT", 3)
    made, _ = told(webhook_url="")
    other, _ = told(webhook_url="")
    few, many = caught(2, other), caught(5, made)
    record(made.request, "request.completed")
    held = Delivery.objects.latest("pk").pk
    assert prune(30, clock.now()) == 2
    assert sorted(Delivery.objects.values_list("pk", flat=True)) == sorted([*few, *many[-3:], held])
    assert prune(30, clock.now() + timedelta(days=31)) == 5
    assert Delivery.objects.get().pk == held
