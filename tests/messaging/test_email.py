"""E-mail through a real SMTP server, and into the captured inbox."""

import socket
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, cast

import pytest
from aiosmtpd.controller import Controller
from pytest_django import Settings

from paraph.kernel.errors import DomainError
from paraph.messaging.email import send_email
from paraph.messaging.inbox import messages
from paraph.messaging.sms import send_sms

pytestmark = pytest.mark.django_db


class Mailbox:
    def __init__(self) -> None:
        self.received: list[Any] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.received.append(envelope)
        return "250 Ok: queued as 4XkQ"


@pytest.fixture
def mailbox(settings: Settings) -> Iterator[Mailbox]:
    mailbox = Mailbox()
    controller = Controller(mailbox, hostname="127.0.0.1", port=free_port())
    controller.start()
    settings.PARAPH = settings.PARAPH.model_copy(
        update={
            "smtp_url": f"smtp://127.0.0.1:{controller.port}",
            "base_url": "https://sign.example",
            "mail_from": "A <a@b.example>",
        }
    )
    yield mailbox
    controller.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_gateway_gets_the_mail_and_its_answer_is_kept(mailbox: Mailbox) -> None:
    reply = send_email("zoë@example.org", "Sign\nthis", "Grüße", html="<p>Grüße</p>", message_id="invite-7")
    assert reply == "250 Ok: queued as 4XkQ"
    envelope = mailbox.received[0]
    mail = parse(envelope.content)
    assert envelope.rcpt_tos == ["zoë@example.org"]
    assert mail["Message-ID"] == "<invite-7@sign.example>"
    assert mail["Subject"] == "Sign this"
    assert mail["From"] == "A <a@b.example>"
    plain, html = mail.iter_parts()
    assert "Grüße" in cast(EmailMessage, plain).get_content()
    assert html.get_content_type() == "text/html"
    assert list(messages()) == []


def test_a_logo_belongs_to_the_html_and_is_no_attachment(mailbox: Mailbox) -> None:
    png = b"\x89PNG\r\n\x1a\n"
    send_email("a@example.org", "s", "t", html='<img src="cid:logo">', logo=png)
    mail = parse(mailbox.received[0].content)
    assert mail.get_content_type() == "multipart/related"
    said, picture = (cast(EmailMessage, part) for part in mail.iter_parts())
    assert [part.get_content_type() for part in said.iter_parts()] == ["text/plain", "text/html"]
    assert (picture.get_content_type(), picture["Content-ID"], picture.get_content()) == ("image/png", "<logo>", png)
    assert picture.get_content_disposition() == "inline"


def test_a_captured_mail_has_its_logo_in_the_html() -> None:
    send_email("a@example.org", "s", "t", html='<p>cid:logo</p><img src="cid:logo">', logo=b"\x89PNG")
    [kept] = messages()
    assert kept.html == '<p>cid:logo</p><img src="data:image/png;base64,iVBORw==">'


def test_every_mail_has_an_id_of_the_public_host(mailbox: Mailbox) -> None:
    for _ in range(2):
        send_email("a@example.org", "s", "t")
    first, second = (parse(envelope.content)["Message-ID"] for envelope in mailbox.received)
    assert first != second
    assert first.endswith("@sign.example>") and second.endswith("@sign.example>")


def parse(content: bytes) -> EmailMessage:
    return message_from_bytes(content, policy=policy.default)


def test_an_unreachable_gateway_is_an_error_for_the_job_to_repeat(settings: Settings) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    with pytest.raises(OSError):
        send_email("a@example.org", "s", "t")
    assert list(messages()) == []


@pytest.mark.parametrize("url", ["mail.example.org", "http://mail.example.org", "smtp://host:x"])
def test_an_address_that_is_none_gets_a_sentence(settings: Settings, url: str) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": url})
    with pytest.raises(DomainError, match="PARAPH_SMTP_URL must be"):
        send_email("a@example.org", "s", "t")


def test_without_a_gateway_messages_are_captured_in_order_and_once() -> None:
    first = send_email("a@example.org", "Code", "123456", "<p>123456</p>", message_id="code-1")
    assert send_email("a@example.org", "Code", "123456", "<p>123456</p>", message_id="code-1") == first
    send_sms("+33612345678", "654321")
    kept = [(m.to, m.channel, m.subject, m.text, m.html) for m in messages()]
    assert kept == [
        ("a@example.org", "email", "Code", "123456", "<p>123456</p>"),
        ("+33612345678", "sms", "", "654321", ""),
    ]
    assert first.startswith("captured:")
