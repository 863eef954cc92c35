"""Events: who gets a delivery of each, and with which payload (rules 6.1, 6.4). Deliveries that a sandbox application
without a webhook URL would have got are kept, shown and never sent."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from paraph.audit_trail.journal import SERVICE
from paraph.flow import events
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.models import Application
from paraph.webhooks import all_deliveries
from paraph.webhooks.all_deliveries import (
    latest_deliveries,
    prune,
    replay_delivery,
    replay_request,
    replay_since,
)
from paraph.webhooks.deliveries import signed
from paraph.webhooks.models import Delivery
from paraph.webhooks.outbox import release, signature
from tests.factories import Scene, scene, seal_everything, sign
from tests.tenancy import create_application, update_organization
from tests.webhooks.parties import claim_now, record, told

pytestmark = pytest.mark.django_db

MOMENT = datetime(2030, 5, 17, 8, 30, 12, 987000, tzinfo=UTC)
CALLBACK = "https://callback.example/done"
EVENTS = ["signer.notified", "signer.otp_sent", "signer.signed", "request.completed", "request.expired"]


def test_the_payload_of_a_signers_event_and_of_a_requests() -> None:
    """Both state the request at the moment of the event, whatever comes later; only a signer's event names a signer."""
    made, _ = told(mode="sequential", signers=2)
    signer = made.signers[1]
    record(made.request, "signer.otp_sent", signer, MOMENT)
    record(made.request, "request.expired", occurred_at=MOMENT)
    SignatureRequest.objects.update(status="completed")
    Signer.objects.update(status="signed")
    first, second = Delivery.objects.order_by("pk")
    stated = {
        "occurred_at": "2030-05-17T08:30:12Z",
        "signature_request": {"id": made.request.pk, "status": "pending", "mode": "sequential"},
    }
    assert json.loads(first.payload) == {
        "event": "signer.otp_sent",
        **stated,
        "signer": {
            "id": signer.pk,
            "first_name": "Émile",
            "last_name": "Zola",
            "full_name": "Émile Zola",
            "email": "émile2@example.com",
            "status": "pending",
        },
    }
    assert json.loads(second.payload) == {"event": "request.expired", **stated}
    assert (first.destination, first.url) == ("application", "https://hooks.example/in")
    assert (first.status, first.due_at) == ("waiting", MOMENT)


HOOK = "https://hooks.example/in"


@pytest.mark.parametrize(
    ("webhook_url", "callback_url", "event_type", "destinations"),
    [
        (HOOK, CALLBACK, "request.expired", ["application", "callback"]),
        (HOOK, CALLBACK, "request.completed", ["application", "callback"]),
        (HOOK, CALLBACK, "signer.signed", ["application"]),
        (HOOK, CALLBACK, "signer.notified", ["application"]),
        (HOOK, CALLBACK, "signer.otp_sent", ["application"]),
        ("", CALLBACK, "request.expired", ["catcher", "callback"]),
        ("", CALLBACK, "signer.signed", ["catcher"]),
        ("", "", "signature_request.created", []),
        (CALLBACK, CALLBACK, "request.expired", ["application", "callback"]),
        (HOOK, CALLBACK, "signature_request.created", []),
        (HOOK, CALLBACK, "signature_request.pades_signed", []),
        (HOOK, CALLBACK, "request.completion_notified", []),
        (HOOK, CALLBACK, "signature_request.identity_declared", []),
        (HOOK, CALLBACK, "signature_request.certificate_issued", []),
    ],
)
@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_who_is_told(
    environment: str, webhook_url: str, callback_url: str, event_type: str, destinations: list[str]
) -> None:
    """Production differs only in having no catcher; a callback URL that cannot be parsed breaks no event."""
    made, _ = told(webhook_url, callback_url=callback_url, environment=environment)
    expected = [each for each in destinations if environment == "sandbox" or each != "catcher"]
    for _ in range(2):
        record(made.request, event_type, made.signers[0] if event_type.startswith("signer.") else None)
        urls = {"application": webhook_url, "callback": made.request.callback_url, "catcher": ""}
        rows = Delivery.objects.order_by("pk").values_list("destination", "url")
        assert list(rows) == [(destination, urls[destination]) for destination in expected]
        assert Delivery.objects.values("payload").distinct().count() == min(1, len(expected)), "all say the same"
        Delivery.objects.all().delete()
        made.request.callback_url = callback_url and "https://[broken" + "x" * 1000


def test_completion_is_held_until_it_is_released() -> None:
    """Only deliveries of the released request go out, and delivered ones do not go out again."""
    made, _ = told(callback_url=CALLBACK)
    other, _ = told()
    record(other.request, "request.completed")
    record(made.request, "request.completed", occurred_at=MOMENT)
    assert set(Delivery.objects.values_list("status", flat=True)) == {"held"}
    assert claim_now() == []
    release(made.request.pk)
    release(made.request.pk)
    assert [(claimed.event_type, claimed.request_id) for claimed in claim_now()] == [
        ("request.completed", made.request.pk)
    ] * 2
    mine = Delivery.objects.filter(request=made.request)
    assert json.loads(mine[0].payload)["occurred_at"] == "2030-05-17T08:30:12Z"
    mine.update(status="delivered")
    release(made.request.pk)
    assert set(mine.values_list("status", flat=True)) == {"delivered"}
    assert Delivery.objects.get(request=other.request).status == "held"


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_is_told_to_nobody() -> None:
    made, _ = told()
    with pytest.raises(RuntimeError), transaction.atomic():
        record(made.request, "request.expired")
        raise RuntimeError
    assert not Delivery.objects.exists()


def test_each_event_of_the_flow_is_recorded_with_its_journal_entry() -> None:
    made, _ = told()
    signer = made.signers[0]
    signer.request = made.request
    events.signer_notified(signer, "250 ok")
    events.otp_sent(signer, "email", signer.email, resend=False, acknowledgement="", origin=SERVICE)
    events.signer_signed(signer, "I agree", 1, SERVICE)
    events.request_completed(made.request)
    events.request_expired(made.request)
    events.completion_notified(made.request, [], kept=0)
    recorded = list(Delivery.objects.order_by("pk"))
    assert [delivery.event_type for delivery in recorded] == EVENTS
    moments = {entry.event_type: entry.created_at for entry in made.entries()}
    assert all(delivery.occurred_at == moments[delivery.event_type] for delivery in recorded)


def from_dashboard() -> tuple[Scene, Application]:
    """A request that a member sent, and a production application not yet named to hear of such requests."""
    made = scene(environment="production")
    new = create_application(made.request.organization_id, "production", "shop", HOOK)
    SignatureRequest.objects.filter(pk=made.request.pk).update(application=None)
    made.request.refresh_from_db()
    return made, new.application


def test_nobody_hears_of_a_request_from_the_dashboard_unless_an_application_is_named() -> None:
    made, application = from_dashboard()
    here, (_, foreign) = made.request.organization_id, from_dashboard()
    record(made.request, "request.expired")
    assert not Delivery.objects.exists()
    with pytest.raises(DomainError, match="must name a production application"):
        update_organization(here, web_application_id=foreign.pk)
    update_organization(here, web_application_id=application.pk)
    record(made.request, "signer.signed", made.signers[0])
    delivery = Delivery.objects.get()
    assert (delivery.application_id, delivery.url) == (application.pk, HOOK)
    assert delivery.endpoint == f"{application.pk} https://hooks.example:443"
    Application.objects.filter(pk=application.pk).update(webhook_url="")
    record(made.request, "request.expired")
    update_organization(here, web_application_id=0)
    record(made.request, "request.expired")
    assert Delivery.objects.count() == 1


LATER = timedelta(days=1)


def caught(number: int, made: Scene) -> list[int]:
    for _ in range(number):
        record(made.request, "request.expired")
    mine = Delivery.objects.filter(application=made.request.application).order_by("pk")
    return list(mine.values_list("pk", flat=True))[-number:]


def test_events_are_caught_as_they_happen_and_nobody_sends_them() -> None:
    def states() -> list[tuple[str, str, bool]]:
        rows = Delivery.objects.filter(destination="catcher").order_by("pk")
        return [(row.event_type, row.status, row.finished_at is not None) for row in rows]

    made, secret = told(webhook_url="")
    sign(made)
    before = [("signer.otp_sent", "caught", True), ("signer.signed", "caught", True)]
    assert states() == [*before, ("request.completed", "held", False)]
    seal_everything(made.request)
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


def test_what_was_caught_is_never_sent_again_and_operators_do_not_see_it() -> None:
    made, _ = told(webhook_url="")
    [pk] = caught(1, made)
    with pytest.raises(DomainError, match="had no webhook URL"):
        replay_delivery(pk)
    with pytest.raises(DomainError, match="has no deliveries"):
        replay_request(made.request.pk)
    assert replay_since(clock.now() - LATER, delivered_too=True) == 0
    assert latest_deliveries(failed_only=False, limit=9) == []


def test_the_newest_of_each_application_are_kept_until_their_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_deliveries, "CAUGHT_KEPT", 3)
    made, _ = told(webhook_url="")
    other, _ = told(webhook_url="")
    few, many = caught(2, other), caught(5, made)
    record(made.request, "request.completed")
    held = Delivery.objects.latest("pk").pk
    assert prune(30, clock.now()) == 2
    assert sorted(Delivery.objects.values_list("pk", flat=True)) == sorted([*few, *many[-3:], held])
    assert prune(30, clock.now() + timedelta(days=31)) == 5
    assert Delivery.objects.get().pk == held
