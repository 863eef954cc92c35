"""The providers' own libraries against servers on this machine: taken, refused, unreachable."""

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest

from paraph.kernel.errors import DomainError
from paraph.messaging import email, sms
from paraph.messaging.email import send_email
from paraph.messaging.letters import EmailContent
from paraph.messaging.sms import send_sms
from tests.cli.service import free_port
from tests.receiver import Behaviour, Handler, answer, receiver

Configure = Callable[..., None]
NUMBER, CODE = "+33612345678", "654321 is your code"


@pytest.fixture
def configured(configured: Configure, settings: Any) -> Configure:
    def configure(**fields: Any) -> None:
        configured(**fields)
        settings.ANYMAIL = settings.PARAPH.mail_provider_settings

    return configure


def json_answer(code: int, said: dict[str, Any]) -> Behaviour:
    return answer(code, json.dumps(said).encode(), **{"Content-Type": "application/json"})


@pytest.mark.parametrize(
    ("sender", "said"), [("+15005550006", {"From": ["+15005550006"]}), ("MG7", {"MessagingServiceSid": ["MG7"]})]
)
def test_twilio_takes_a_message(configured: Configure, sender: str, said: dict[str, list[str]]) -> None:
    with receiver(json_answer(201, {"sid": "SM0123", "status": "queued", "account_sid": "AC1"})) as twilio:
        configured(sms_url=f"twilio://AC1:secret@{sender}?api={twilio.url(path='')}")
        assert send_sms(NUMBER, CODE) == "twilio SM0123 queued"
    (got,) = twilio.received
    assert got.path == "/2010-04-01/Accounts/AC1/Messages.json"
    assert parse_qs(got.body.decode()) == {"To": [NUMBER], "Body": [CODE], **said}
    assert base64.b64decode(got.headers["Authorization"].partition(" ")[2]) == b"AC1:secret"


def test_twilio_is_checked_without_sending(configured: Configure, monkeypatch: pytest.MonkeyPatch) -> None:
    account = json_answer(200, {"sid": "AC1", "status": "active"})
    with receiver() as twilio:
        monkeypatch.setattr(Handler, "do_GET", account, raising=False)
        configured(sms_url=f"twilio://AC1:secret@MG7?api={twilio.url(path='')}")
        assert sms.check_gateway() == "Twilio knows the account, which is active."
    assert twilio.received == []


def test_an_unreachable_gateway_is_an_error_for_the_caller(configured: Configure) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    for url in (f"twilio://AC1:secret@MG7?api=http://{nobody}", f"apprise+json://{nobody}/{{to}}"):
        configured(sms_url=url)
        with pytest.raises(OSError):
            send_sms(NUMBER, CODE)


def test_apprise_takes_a_message(configured: Configure) -> None:
    with receiver() as service:
        configured(sms_url=f"apprise+json://localhost:{service.server_port}/to/{{to}}")
        assert send_sms(NUMBER, CODE) == "apprise json"
        assert "only sending" in sms.check_gateway()
    (got,) = service.received
    assert got.path.rstrip("/") in ("/to/%2B33612345678", f"/to/{NUMBER}")
    assert json.loads(got.body)["message"] == CODE


def test_an_address_that_is_none_gets_a_sentence(configured: Configure) -> None:
    for url in ("carrier-pigeon://x", "twilio://AC1@MG7", "apprise+json://localhost", "apprise+nonsense://{to}"):
        configured(sms_url=url)
        with pytest.raises(DomainError, match="PARAPH_SMS_URL"):
            sms.check_gateway()
    for name in ("pigeon", "postmark"):  # one unknown, one without its settings
        configured(mail_provider=name, mail_provider_settings={})
        with pytest.raises(DomainError, match="PARAPH_MAIL_PROVIDER"):
            email.check_gateway()


def postmark(url: str) -> dict[str, Any]:
    keys = {"POSTMARK_SERVER_TOKEN": "t0ken", "POSTMARK_API_URL": url}
    return {"mail_provider": "postmark", "mail_provider_settings": keys, "base_url": "https://sign.example"}


def test_a_mail_provider_takes_a_message(configured: Configure) -> None:
    said = {"ErrorCode": 0, "Message": "OK", "MessageID": "b7bc2f4a", "To": "a@example.org", "SubmittedAt": "x"}
    with receiver(json_answer(200, said)) as provider:
        configured(**postmark(provider.url(path="/")))
        content = EmailContent("Sign", "text", "<p>html</p>")
        assert send_email("a@example.org", content, "invitation-7") == "postmark b7bc2f4a"
        assert "only sending" in email.check_gateway()
    (got,) = provider.received
    body = json.loads(got.body)
    assert (got.headers["X-Postmark-Server-Token"], body["To"]) == ("t0ken", "a@example.org")
    assert (body["TextBody"], body["HtmlBody"]) == ("text", "<p>html</p>")
    headers = {header["Name"]: header["Value"] for header in body["Headers"]}
    assert headers["Message-ID"] == "<invitation-7@sign.example>"
    assert headers["Auto-Submitted"] == "auto-generated" and "List-Id" in headers
