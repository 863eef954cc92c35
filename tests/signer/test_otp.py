"""POST /sign/{token}/otp (rule 4.11)."""

import socket
from datetime import timedelta
from typing import Any

import pytest

from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.otp import codes
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.models import Signer
from tests.factories import Scene, scene
from tests.production import Client
from tests.refusing import NO_SUCH_USER, refusing_server
from tests.signer.calls import call, refused

pytestmark = pytest.mark.django_db


def post(client: Client, made: Scene, body: Any = {"channel": "email"}, position: int = 0, **more: Any) -> Any:  # noqa: B006
    return call(client, made, "/otp", body, position, HTTP_USER_AGENT="Test/1", **more)


def test_sends_a_code_by_email_and_tells_it_in_sandbox(client: Client, made: Scene) -> None:
    response = post(client, made, HTTP_ACCEPT_LANGUAGE="fr")
    assert response.status_code == 200
    assert response["Content-Language"] == "fr"
    answer = response.json()
    assert answer["message"].startswith("Un code a été envoyé à ")
    assert set(answer) == {"message", "channel", "sandbox_code"}
    assert answer["channel"] == "email"
    assert len(answer["sandbox_code"]) == 6 and answer["sandbox_code"].isdecimal()
    assert "ada1@" not in answer["message"]
    message = CapturedMessage.objects.get()
    assert (message.to, message.channel) == ("ada1@example.com", "email")
    assert answer["sandbox_code"] in message.text and answer["sandbox_code"] in message.subject
    assert response["Cache-Control"] == "no-store" and response["Referrer-Policy"] == "no-referrer"
    assert "X-Frame-Options" not in response


def test_journals_the_sending(client: Client, made: Scene) -> None:
    for number, resend in enumerate((False, True), start=1):
        post(client, made)
        entry = made.entries()[number]
        assert (entry.event_type, entry.signer_id) == ("signer.otp_sent", made.signers[0].pk)
        assert (entry.ip, entry.user_agent) == ("127.0.0.1", "Test/1")
        assert entry.metadata == {
            "provider": "email",
            "recipient": "ada1@example.com",
            "resend": resend,
            "acknowledgement": f"captured:{CapturedMessage.objects.latest('id').pk}",
        }


def test_the_code_is_never_told_in_production_nor_stored(client: Client) -> None:
    made = scene(environment="production")
    answer = post(client, made).json()
    assert set(answer) == {"message", "channel"}
    row = OneTimeCode.objects.values_list().get()
    code = CapturedMessage.objects.get().text.split(" is your code")[0][-6:]
    assert code.isdecimal()
    assert code not in str([bytes(cell) if isinstance(cell, memoryview) else cell for cell in row])


@pytest.mark.parametrize(
    ("plan", "fields", "allowed"),
    [
        ("pro", {}, {"email"}),
        ("pro", {"phone": "+33612345678"}, {"email", "sms"}),
        ("free", {"phone": "+33612345678"}, {"email"}),
        ("pro", {"phone": "+881612345678"}, {"email"}),
        ("pro", {"phone": "+33612345678", "otp_channel": "sms"}, {"sms"}),
        ("pro", {"phone": "+33612345678", "otp_channel": "email"}, {"email"}),
    ],
)
def test_only_channels_of_the_signer(client: Client, plan: str, fields: dict[str, str], allowed: set[str]) -> None:
    made = scene(plan=plan, signer=fields)
    to = {"email": "ada1@example.com", "sms": "+33612345678"}
    for channel in allowed:
        assert post(client, made, {"channel": channel}).status_code == 200
        newest = CapturedMessage.objects.latest("id")
        assert (newest.channel, newest.to) == (channel, to[channel])
    others: list[Any] = [{"channel": channel} for channel in to.keys() - allowed]
    for body in [*others, {"channel": None}, {"channel": 1}, {"channel": "fax"}, {"channel": ""}, {"x": 1}, [], "x"]:
        assert refused(post(client, made, body)) == (422, "validation_error")
    said = post(client, made, {"channel": "fax"}).json()["error"]["message"]
    assert {channel for channel in to if channel in said} == allowed
    assert CapturedMessage.objects.count() == len(allowed)


def test_sends_are_limited_and_each_is_another_code(client: Client) -> None:
    """Each signer has a limit of their own, whatever API key is given."""
    made = scene(signers=2)
    first = [post(client, made, HTTP_X_API_KEY="0" * 64) for _ in range(5)]
    assert [answer.status_code for answer in first] == [200] * 5
    refusal = post(client, made)
    assert refused(refusal) == (429, "rate_limited") and 0 < int(refusal["Retry-After"]) <= 600
    second = [post(client, made, position=1) for _ in range(5)]
    assert len({answer.json()["sandbox_code"] for answer in first + second}) > 5
    OneTimeCode.objects.update(window_began_at=clock.now() - timedelta(minutes=10))
    assert post(client, made).status_code == 200


@pytest.mark.parametrize(
    ("smtp_url", "logged"),
    [("smtp://127.0.0.1:1", ""), ("nonsense://host", "PARAPH_SMTP_URL must be smtp://")],
    ids=["away", "wrongly set"],
)
def test_a_gateway_that_fails_leaves_no_trace_in_the_journal_and_its_settings_are_told_to_the_operator(
    client: Client, settings: Any, caplog: pytest.LogCaptureFixture, smtp_url: str, logged: str, *, made: Scene
) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": smtp_url})
    response = post(client, made)
    assert refused(response) == (503, "delivery_failed")
    assert response["Retry-After"] == "15" and logged in caplog.text
    page = client.post(made.url(0), {"do": "code"})
    assert (page.status_code, page["Retry-After"]) == (503, "15")
    assert made.events() == ["signature_request.created"]
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": ""})
    post(client, made)
    assert made.entries()[-1].metadata["resend"] is False


@pytest.mark.parametrize("channel", ["email", "sms"])
def test_a_code_that_was_not_handed_over_counts_nowhere(
    channel: str, client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often the gateway hangs, the answer is the same at the sixth attempt, the page says what to do, and the
    earlier code stays valid."""
    monkeypatch.setattr("paraph.messaging.email._TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr("paraph.messaging.sms_twilio._TIMEOUT_SECONDS", 0.1)
    made = scene(plan="pro", environment="production", signer={"phone": "+33612345678", "otp_channel": channel})
    assert post(client, made, {"channel": channel}).status_code == 200
    earlier = OneTimeCode.objects.values().get()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = "127.0.0.1:{1}".format(*silent.getsockname())
        urls = {"smtp_url": f"smtp://{host}", "sms_url": f"twilio://AC1:token@+15005550006?api=http://{host}"}
        settings.PARAPH = settings.PARAPH.model_copy(update=urls)
        for _ in range(6):
            unsent = post(client, made, {"channel": channel})
            assert refused(unsent) == (503, "delivery_failed")
        assert "Try again in a moment, or choose another way" in unsent.json()["error"]["message"]
        page = client.post(made.url(0), {"do": "code"})
        assert page.status_code == 503 and "Try again in a moment, or choose another way" in page.content.decode()
    assert OneTimeCode.objects.values().get() == earlier
    assert made.events()[1:] == ["signer.otp_sent"]
    code = CapturedMessage.objects.get().text.split(" is your code")[0][-6:]
    codes.guess(Signer.objects.get(), code)


def test_the_code_comes_in_the_language_of_the_page_that_asks_for_it(client: Client) -> None:
    """Only the mail uses that language: nothing about the signer changes."""
    made = scene(locale="de", locale_chosen=True)
    for body, browser, starts in (({"locale": "fr"}, "it", "fr"), ({"locale": ["fr"]}, "it", "de"), ({}, "it", "de")):
        post(client, made, {"channel": "email"} | body, HTTP_ACCEPT_LANGUAGE=browser)
        assert f'<html lang="{starts}"' in CapturedMessage.objects.latest("id").html
    for rest, starts in (("", "de"), ("?lang=fr", "fr")):
        client.post(made.url(rest=rest), {"do": "code"}, HTTP_ACCEPT_LANGUAGE="it")
        assert f'<html lang="{starts}"' in CapturedMessage.objects.latest("id").html
    assert Signer.objects.get().locale == ""
    nobody_chose = scene()
    post(client, nobody_chose, {"channel": "email"}, HTTP_ACCEPT_LANGUAGE="it")
    assert '<html lang="it"' in CapturedMessage.objects.latest("id").html


def test_a_recipient_that_is_refused_for_good_is_told_once_and_tried_whenever_somebody_asks(
    client: Client, settings: Any
) -> None:
    made = scene(environment="production", send_email=True)
    with refusing_server(settings) as server:
        server.recipients["ada1@example.com"] = NO_SUCH_USER
        for _ in range(2):
            answered = post(client, made, HTTP_ACCEPT_LANGUAGE="de")
            assert refused(answered) == (503, "delivery_failed")
            assert answered.json()["error"]["message"].startswith("Die Nachricht konnte nicht zugestellt werden")
        assert server.asked["ada1@example.com"] == 2, "whoever asks has it tried"
        [entry] = [entry for entry in made.entries() if entry.event_type == "signer.delivery_failed"]
        assert (entry.metadata["message"], entry.metadata["recipient"]) == ("code", "ada1@example.com")
        assert OneTimeCode.objects.get().sent_at is None
        server.recipients.clear()
        assert post(client, made).status_code == 200
    assert Signer.objects.get().undelivered is None, "it came to be well again"
