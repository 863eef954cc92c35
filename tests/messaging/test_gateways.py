"""The providers' own libraries and mail servers on this machine: what is taken, and why a message is not taken: because
of its recipient, for good or for now, or because of the service itself."""

import base64
import json
from collections.abc import Callable, Iterator
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused
from typing import Any
from urllib.parse import parse_qs

import pytest

from paraph.kernel.errors import DomainError, RecipientRefusedError
from paraph.messaging import email, sms
from paraph.messaging.email import check_gateway, refusal_of, send_email
from paraph.messaging.gateways import FinallyRefusedError
from paraph.messaging.letters import EmailContent
from paraph.messaging.sms import send_sms
from paraph.metrics import metrics
from paraph.metrics.metrics import summed
from tests.cli.service import free_port
from tests.receiver import Behaviour, Handler, answer, receiver
from tests.refusing import NO_SUCH_USER, RefusingServer, refusing_server

pytestmark = pytest.mark.django_db
Configure = Callable[..., None]
ADA = "ada@harbour.example"
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


@pytest.fixture
def server(settings: Any) -> Iterator[RefusingServer]:
    with refusing_server(settings) as found:
        yield found


def kind(error: Exception | None) -> str:
    final = "final" if isinstance(error, FinallyRefusedError) else "for now"
    return final if isinstance(error, RecipientRefusedError) else "ours"


@pytest.mark.parametrize(
    ("reply", "whose"),
    [
        ("550 5.1.1 <{}>: Recipient address rejected: User unknown in relay recipient table", "final"),
        ("550-5.1.1 The email account that you tried to reach does not exist.\n5.1.1 See https://g.example", "final"),
        ("550 5.4.1 Recipient address rejected: Access denied. [AS1 2026]", "final"),
        ("550 5.1.10 RESOLVER.ADR.RecipientNotFound", "final"),
        ("556 5.1.10 Recipient address has null MX", "final"),
        ("552 5.2.2 The email account that you tried to reach is over quota", "final"),
        ("550 5.2.1 The email account that you tried to reach is disabled", "final"),
        ("550 No such user here", "final"),
        ("550 Requested action not taken: mailbox unavailable", "final"),
        ("553 sorry, no mailbox here by that name (#5.1.1)", "final"),
        ("450 4.1.1 <{}>: Recipient address rejected: unverified address", "for now"),
        ("452 4.2.2 mailbox full", "for now"),
        ("450 mailbox busy", "for now"),
        ("450 4.7.1 <{}>: Recipient address rejected: Greylisted", "ours"),
        ("451 4.3.0 Temporary lookup failure", "ours"),
        ("421 4.2.1 Service closing", "ours"),
        ("554 5.7.1 <{}>: Relay access denied", "ours"),
        ("550 5.7.1 Unable to relay", "ours"),
        ("550 relay not permitted", "ours"),
        ("553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)", "ours"),
        ("554 5.7.1 Service unavailable; Client host [192.0.2.5] blocked using zen.example", "ours"),
        ("550 5.1.8 <a@b.example>: Sender address rejected: Domain not found", "ours"),
        ("550 5.1.0 <a@b.example>: Sender address rejected: User unknown", "ours"),
        ("550 5.1.90 You have reached your daily limit for message recipients", "ours"),
        ("530 5.7.0 Authentication required", "ours"),
        ("503 5.5.1 nested MAIL command", "ours"),
        ("501 syntax", "ours"),
        ("554 no", "ours"),
        ("550 your address 5.1.1.7 is on a blocklist", "ours"),
    ],
)
def test_a_reply_to_the_recipient(reply: str, whose: str) -> None:
    code, words = int(reply[:3]), reply[4:].format(ADA)
    refused = refusal_of(SMTPRecipientsRefused({ADA: (code, words.encode())}), ADA)
    assert kind(refused) == whose
    assert "@" not in str(refused) and "://" not in str(refused) and "\n" not in str(refused)


@pytest.mark.parametrize(
    ("reply", "whose"),
    [
        ("550 5.1.1 no such user", "final"),
        ("552 5.2.2 over quota", "final"),
        ("550 <{}> is no mailbox of ours", "final"),
        ("550 that cannot be", "ours"),
        ("552 5.3.4 message too big", "ours"),
        ("554 5.7.1 looks like spam to <{}>", "ours"),
        ("550 5.7.26 unauthenticated", "ours"),
    ],
)
def test_a_reply_to_the_mail(reply: str, whose: str) -> None:
    refused = refusal_of(SMTPDataError(int(reply[:3]), reply[4:].format(ADA)), ADA)
    assert kind(refused) == whose


def test_what_it_says_is_one_short_line_without_addresses_and_links() -> None:
    said = f"5.1.1 <{ADA}>: unknown,\u202e\x07 see\r\n5.1.1 http://evil.example/?u={ADA} or ops@b.example " + "x" * 500
    refused = refusal_of(SMTPRecipientsRefused({ADA: (550, said.encode())}), ADA)
    assert str(refused).startswith("550 5.1.1 …: unknown, see 5.1.1 … or … xxx") and len(str(refused)) == 200


def test_a_real_server_is_asked_once_and_the_connection_ends(server: RefusingServer) -> None:
    server.recipients[ADA] = NO_SUCH_USER
    with pytest.raises(FinallyRefusedError, match=r"^550 5.1.1 …: Recipient address rejected: User unknown") as refused:
        send_email(ADA, EmailContent("Sign", "text"))
    assert server.asked == {ADA: 1} and ADA not in str(refused.value)
    server.recipients.clear()
    server.content[ADA] = "550 5.1.1 <{}> moved away"
    with pytest.raises(FinallyRefusedError, match="moved away"):
        send_email(ADA, EmailContent("Sign", "text"))
    send_email("bob@harbour.example", EmailContent("Sign", "text"))
    assert server.taken == ["bob@harbour.example"]


@pytest.mark.parametrize("reply", ["550 5.7.1 you may not", "451 4.3.0 later", "550 5.1.8 unknown sender"])
def test_a_refusal_of_the_sender_is_no_word_about_the_recipient_and_check_tells(
    server: RefusingServer, reply: str
) -> None:
    assert check_gateway().endswith("takes our greeting.")
    server.sender = reply
    with pytest.raises(SMTPException) as refused:
        send_email(ADA, EmailContent("Sign", "text"))
    assert not isinstance(refused.value, RecipientRefusedError)
    with pytest.raises(OSError, match=rf"answers MAIL FROM:<\S+> with {reply}"):
        check_gateway()


def test_refusals_of_recipients_are_counted_apart(server: RefusingServer) -> None:
    def counted() -> dict[str, float]:
        samples = [each for family in summed() for each in family.samples if each.name == "paraph_messages_total"]
        mine = [each for each in samples if (each.labels["channel"], each.labels["kind"]) == ("email", "message")]
        return {each.labels["result"]: each.value for each in mine}

    before = counted()
    server.recipients[ADA] = NO_SUCH_USER
    server.recipients["relay@far.example"] = "554 5.7.1 <{}>: Relay access denied"
    for to in (ADA, "relay@far.example"):
        with pytest.raises(OSError), metrics.message("email", "message"):
            send_email(to, EmailContent("Sign", "text"))
    after = counted()
    assert [after.get(name, 0) - before.get(name, 0) for name in ("refused", "failed")] == [1, 1]


def test_a_number_that_an_operator_refuses_for_good(configured: Configure) -> None:
    for code, whose in ((21614, "final"), (21211, "final"), (21408, "ours"), (20003, "ours")):
        with receiver(json_answer(400, {"code": code, "message": "To +33612345678", "status": 400})) as twilio:
            configured(sms_url=f"twilio://AC1:secret@MG7?api={twilio.url(path='')}")
            with pytest.raises(OSError, match=f"Twilio.*{code}") as refused:
                send_sms(NUMBER, CODE)
        assert kind(refused.value) == whose and "+336" not in str(refused.value)


def test_a_provider_that_refuses_the_recipient_or_everything(configured: Configure) -> None:
    found = f"Found inactive addresses: {ADA}. Inactive recipients are ones that have bounced."
    for status, code, words, whose, cause in (
        (422, 406, found, "final", r"^postmark: rejected$"),
        (500, 100, "maintenance", "ours", "postmark did not take the message"),
    ):
        with receiver(json_answer(status, {"ErrorCode": code, "Message": words})) as provider:
            configured(**postmark(provider.url(path="/")))
            with pytest.raises(OSError, match=cause) as refused:
                send_email(ADA, EmailContent("Sign", "text"))
        assert kind(refused.value) == whose
