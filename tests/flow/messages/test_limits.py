"""Limits of messages per recipient, sender and country hold whoever asks and however many ask at once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from paraph.cli.request import lines_of
from paraph.counts.counting import Ceiling, count
from paraph.counts.models import Count
from paraph.flow.messages.copies import notify_completion
from paraph.flow.messages.limits import TooManyMessagesError
from paraph.flow.sending.invite import invite
from paraph.kernel import clock
from paraph.kernel.rates import PerHourAndDay
from paraph.messaging.gateways import destination_hash
from paraph.messaging.models import CapturedMessage
from paraph.operations.request_state import request_state
from paraph.queue.jobs import defer
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Organization
from tests.factories import Scene, scene
from tests.flow.test_jobs import waits, work_off
from tests.refusing import RefusingServer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("box")]  # without a gateway nothing is counted
VICTIM = "Victim@Example.com"
Configure = Callable[..., None]


def scope_of(environment: str = "sandbox", address: str = VICTIM) -> str:
    return f"destination:{environment}:{destination_hash(address)}"


def to_victim(**more: Any) -> Scene:
    return scene(signer={"email": VICTIM, **more.pop("signer", {})}, **more)


def ask(client: Client, made: Scene, channel: str = "email") -> Any:
    return client.post(made.url(0, "/otp"), {"channel": channel}, content_type="application/json")


def moved(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + by)


def test_ten_messages_an_hour_reach_one_address_of_the_sandbox_whoever_sends_them(
    client: Client, box: RefusingServer
) -> None:
    for _ in range(5):
        invite(to_victim().signers[0].pk)
    answers = [ask(client, to_victim(signer={"email": address})) for address in [VICTIM.lower(), VICTIM.upper()] * 3]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert answers[-1].json()["error"]["code"] == "rate_limited"
    assert 3500 < int(answers[-1]["Retry-After"]) <= 3600
    assert [to.lower() for to in box.taken] == [VICTIM.lower()] * 10
    assert ask(client, scene()).status_code == 200


@pytest.mark.parametrize(("one", "other"), [("sandbox", "production"), ("production", "sandbox")])
def test_environments_are_disjoint(client: Client, configured: Configure, one: str, other: str) -> None:
    """However much a free sandbox key sends, a signer in production still gets a code."""
    configured(messages_per_destination_in_all=PerHourAndDay(10, 30), sms_per_country_and_day=2)
    assert [ask(client, to_victim(environment=one)).status_code for _ in range(11)] == [200] * 10 + [429]
    assert ask(client, to_victim(environment=other)).status_code == 200
    numbers = [scene(environment=each, signer={"phone": "+33612345678"}) for each in (one, one, one, other)]
    assert [ask(client, made, "sms").status_code for made in numbers] == [200, 200, 429, 200]
    assert len({row.scope for row in Count.objects.filter(scope__startswith="destination:")}) >= 2


def test_in_production_organizations_count_apart_and_the_total_is_well_above(
    client: Client, settings: Any, configured: Configure
) -> None:
    assert settings.PARAPH.messages_per_destination == (10, 30)
    assert settings.PARAPH.messages_per_destination_in_all == (50, 150)
    configured(messages_per_destination_in_all=PerHourAndDay(25, 100))
    organizations = [to_victim(environment="production").request.organization for _ in range(4)]
    first, second, third, fourth = organizations
    assert [ask(client, of(first)).status_code for _ in range(11)] == [200] * 10 + [429]
    with pytest.raises(TooManyMessagesError) as refusal:
        invite(of(first).signers[0].pk)
    assert refusal.value.reason == "as many messages as one recipient may get from this sender were sent there"
    assert [ask(client, of(second)).status_code for _ in range(10)] == [200] * 10
    assert [ask(client, of(third)).status_code for _ in range(6)] == [200] * 5 + [429]  # 25 in all
    assert ask(client, of(fourth)).status_code == 429
    with pytest.raises(TooManyMessagesError) as refusal:
        invite(of(fourth).signers[0].pk)
    assert refusal.value.reason == "as many messages as one recipient may get were sent there"


def of(organization: Organization) -> Scene:
    """A production request to the victim."""
    made = to_victim(environment="production", send_email=True)
    SignatureRequest.objects.filter(pk=made.request.pk).update(organization=organization)
    return made


@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_what_is_only_kept_counts_nowhere(client: Client, configured: Configure, environment: str) -> None:
    configured(smtp_url="", sms_url="")
    made = [to_victim(environment=environment, signer={"phone": "+33612345678"}) for _ in range(12)]
    for each in made:
        invite(each.signers[0].pk)
        assert ask(client, each).status_code == ask(client, each, "sms").status_code == 200
    assert CapturedMessage.objects.count() == 36 and not Count.objects.exists()


def test_so_many_a_day(client: Client, configured: Configure, monkeypatch: pytest.MonkeyPatch) -> None:
    configured(messages_per_destination=PerHourAndDay(2, 5))
    sent = 0
    for _ in range(3):
        sent += [ask(client, to_victim()).status_code for _ in range(3)].count(200)
        moved(monkeypatch, timedelta(minutes=61))
    assert sent == 5
    refused = ask(client, to_victim())
    assert 12 * 3600 < int(refused["Retry-After"]) < 24 * 3600
    moved(monkeypatch, timedelta(hours=21))
    assert ask(client, to_victim()).status_code == 200


def test_no_address_stands_in_the_counts(client: Client) -> None:
    ask(client, to_victim(plan="pro", signer={"phone": "+33612345678"}), "sms")
    ask(client, to_victim())
    kept = str(list(Count.objects.values_list("scope", flat=True)))
    assert scope_of() in kept
    assert "victim" not in kept.lower() and "612345678" not in kept
    assert destination_hash(" victim@example.com ") == destination_hash(VICTIM) != destination_hash("a@example.com")


def test_an_invitation_over_the_ceiling_is_put_off_and_not_lost(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, box: RefusingServer
) -> None:
    made, due = [to_victim(send_email=True) for _ in range(25)], list[float]()
    for each in made:
        try:
            invite(each.signers[0].pk)
        except TooManyMessagesError as refusal:
            due.append(waits(refusal, 500, "mail") or 0)
    assert len(box.taken) == 10
    assert len(due) == 15
    assert sum(3500 < wait < 3700 for wait in due) == 10  # as many as will fit then; the others wait an hour more
    assert sum(7200 < wait < 7400 for wait in due) == 5
    last = made[-1]
    defer("invite", signer_id=last.signers[0].pk)
    with pytest.raises(TooManyMessagesError) as put_off:
        work_off()
    assert "job put off" in caplog.text and "job failed" not in caplog.text, "it is no fault of a job"
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET scheduled_at = %s", [put_off.value.next_at])
    state = request_state(last.request.pk)
    signer, until = state["signers"][0], clock.iso(put_off.value.next_at)
    assert signer["put_off"]["mail"] == "invitation" and "one recipient" in signer["put_off"]["reason"]
    assert f"put off until {until}, since as many messages as one recipient" in state["why"]
    assert any("invitation put off until" in line for line in lines_of(state))
    assert state["status"] == "pending" and "signer.notified" not in last.events()
    moved(monkeypatch, timedelta(hours=1, minutes=2))
    invite(last.signers[0].pk)
    assert "signer.notified" in last.events()
    assert request_state(last.request.pk)["signers"][0]["put_off"] is None


def test_codes_that_are_refused_take_no_turn_of_mails_that_wait(client: Client) -> None:
    for _ in range(14):
        ask(client, to_victim())
    with pytest.raises(TooManyMessagesError) as refusal:
        invite(to_victim().signers[0].pk)
    assert refusal.value.retry_after <= 3660


def test_the_others_have_their_summary(monkeypatch: pytest.MonkeyPatch, box: RefusingServer) -> None:
    made = scene(signers=3, notify_signers_on_completion=True)
    count([Ceiling(scope_of(address=made.signers[0].email), 3600, 10)])
    Count.objects.update(count=10)
    with pytest.raises(TooManyMessagesError):
        notify_completion(made.request.pk)
    assert set(box.taken) == {s.email for s in made.signers[1:]}
    assert "request.completion_notified" not in made.events()
    moved(monkeypatch, timedelta(minutes=61))
    notify_completion(made.request.pk)
    assert len(box.taken) == 3
    assert made.events().count("request.completion_notified") == 1


def test_what_the_gateway_does_not_take_is_not_counted(client: Client, settings: Any, configured: Configure) -> None:
    works = settings.PARAPH.smtp_url
    configured(smtp_url="smtp://127.0.0.1:1")
    for _ in range(12):
        assert ask(client, to_victim()).status_code == 503
    configured(smtp_url=works)
    assert ask(client, to_victim()).status_code == 200
    assert {row.count for row in Count.objects.filter(scope__startswith="destination:")} == {1}


@pytest.mark.parametrize(
    ("setting", "plan", "environment"),
    [
        ("messages_free_sandbox", "free", "sandbox"),
        ("messages_sandbox", "enterprise", "sandbox"),
        ("messages_pro", "pro", "production"),
        ("messages_enterprise", "enterprise", "production"),
    ],
)
def test_an_organization_has_a_ceiling_by_plan_and_environment(
    client: Client, configured: Configure, setting: str, plan: str, environment: str
) -> None:
    configured(**{setting: PerHourAndDay(3, 10), "rate_limit_factor": 2})
    organization = Organization.objects.create(name="Acme", plan=plan)
    made = [scene(environment=environment, signer={"email": f"a{number}@example.com"}) for number in range(7)]
    SignatureRequest.objects.update(organization=organization)
    assert [ask(client, each).status_code for each in made] == [200] * 6 + [429]
    assert ask(client, scene(plan=plan, environment=environment)).status_code == 200


def test_sms_have_a_ceiling_by_country_and_one_by_organization(client: Client, configured: Configure) -> None:
    configured(sms_per_country_and_day=2, sms_per_organization_and_day=0)
    numbers = ["+33612345678", "+33612345679", "+33612345680", "+4915112345678"]
    made = [scene(signer={"phone": number}) for number in numbers]
    assert [ask(client, each, "sms").status_code for each in made] == [200, 200, 429, 200]
    configured(sms_per_country_and_day=0, sms_per_organization_and_day=1)
    two = scene(signers=2, signer={"phone": "+393331234567"})
    assert ask(client, two, "sms").status_code == 200
    refused = client.post(two.url(1, "/otp"), {"channel": "sms"}, content_type="application/json")
    assert refused.status_code == 429


def test_no_ceiling_where_it_is_zero(client: Client, configured: Configure) -> None:
    configured(messages_per_destination=PerHourAndDay(0, 0), messages_sandbox=PerHourAndDay(0, 0))
    assert [ask(client, to_victim()).status_code for _ in range(12)] == [200] * 12
    assert not Count.objects.exists()
