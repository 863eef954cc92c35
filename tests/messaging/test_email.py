"""E-mail through a real SMTP server, and into the captured inbox; names in mails, in which nothing becomes a link."""

import hmac
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.utils import parseaddr
from smtplib import SMTPAuthenticationError
from typing import Any, cast
from urllib.parse import quote

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword
from django.utils.html import urlize

from paraph.kernel.errors import DomainError
from paraph.messaging.email import handed_over, send_email
from paraph.messaging.gateways import captured_messages
from paraph.messaging.letters import EmailContent, unlinked
from paraph.messaging.sms import send_sms
from tests.loopback import mail_server

pytestmark = pytest.mark.django_db
Configure = Callable[..., None]

PASSWORD = "p§ss wörd €"


class Mailbox:
    """A strict server: it takes only domain names and bracketed addresses as greetings, and only mails of 7 bits."""

    def __init__(self) -> None:
        self.received: list[Any] = []
        self.greetings: list[str] = []
        self.logins: list[tuple[str, str, str]] = []

    async def handle_EHLO(
        self, server: Any, session: Any, envelope: Any, hostname: str, responses: list[str]
    ) -> list[str]:
        self.greetings.append(hostname)
        if not hostname.isascii() or ("." not in hostname and not hostname.startswith("[")):
            return [f"550 5.5.2 <{hostname}>: Helo command rejected: need fully-qualified hostname"]
        session.host_name = hostname
        return [response for response in responses if "8BITMIME" not in response and "SMTPUTF8" not in response]

    def authenticate(self, server: Any, session: Any, envelope: Any, mechanism: str, data: LoginPassword) -> AuthResult:
        self.logins.append((mechanism, data.login.decode(), data.password.decode()))
        return AuthResult(success=self.logins[-1][2] == PASSWORD, handled=False)

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.received.append(envelope)
        return "250 Ok: queued as 4XkQ"


@pytest.fixture
def mailbox(configured: Configure) -> Iterator[Mailbox]:
    mailbox = Mailbox()
    with running(mailbox, configured):
        yield mailbox


@contextmanager
def running(mailbox: Mailbox, configured: Configure, **options: Any) -> Iterator[int]:
    """Yield the port of a server, which asks for a login if there are ``options``, such as the mechanisms it lacks."""
    if options:
        options |= {"authenticator": mailbox.authenticate, "auth_require_tls": False}
    with mail_server(mailbox, **options) as url:
        configured(smtp_url=url, base_url="https://sign.example", mail_from="A <a@b.example>")
        yield int(url.rpartition(":")[2])


def test_the_gateway_gets_the_mail_and_its_answer_is_kept(mailbox: Mailbox) -> None:
    for message_id in ("invite-7", "", ""):
        reply = send_email("zoë@example.org", EmailContent("Sign\nthis", "Grüße", "<p>Grüße</p>"), message_id)
        assert reply == "250 Ok: queued as 4XkQ"
    mail, second, third = (parse(envelope.content) for envelope in mailbox.received)
    assert mailbox.received[0].rcpt_tos == ["zoë@example.org"]
    assert (mail["Subject"], mail["From"]) == ("Sign this", "A <a@b.example>")
    assert mail["Message-ID"] == "<invite-7@sign.example>"
    assert all(each["Message-ID"].endswith("@sign.example>") for each in (second, third))
    assert second["Message-ID"] != third["Message-ID"]
    plain, html = mail.iter_parts()
    assert "Grüße" in cast(EmailMessage, plain).get_content()
    assert html.get_content_type() == "text/html"
    assert list(captured_messages()) == []


@pytest.mark.parametrize(
    "name",
    [
        "Marta Brückner via Hausverwaltung Brückner",
        'Smith, "Jim" <x@evil.example> via A\\B',
        "Ü" * 80 + " via " + "界" * 80,
        "Brückner & Söhne; via: (Süd)",
        "=?utf-8?q?Bank=0D=0ABcc=3A_x?= via Acme Ltd",
        "Line\r\nBcc: victim@b.example\nvia Acme",
        "عمر الخيام via Acme",
    ],
)
def test_a_mail_comes_from_the_name_at_the_address_of_the_service(name: str, mailbox: Mailbox) -> None:
    send_email("a@example.org", EmailContent("s", "t", from_name=name))
    [envelope] = mailbox.received
    mail = parse(envelope.content)
    [sender] = mail["From"].addresses
    assert sender.addr_spec == envelope.mail_from == "a@b.example"
    # the parser that made ``mail`` keeps the space between two encoded words
    shown, _ = parseaddr(message_from_bytes(envelope.content)["From"])
    assert str(make_header(decode_header(shown))) == " ".join(name.replace("=?", "= ?").split())
    assert mail["Bcc"] is None and envelope.rcpt_tos == ["a@example.org"]
    assert max(map(len, envelope.content.splitlines())) < 200


def test_a_logo_belongs_to_the_html_and_is_no_attachment(mailbox: Mailbox) -> None:
    png = b"\x89PNG\r\n\x1a\n"
    send_email("a@example.org", EmailContent("s", "t", html='<img src="cid:logo">', logo=png))
    mail = parse(mailbox.received[0].content)
    assert mail.get_content_type() == "multipart/related"
    said, picture = (cast(EmailMessage, part) for part in mail.iter_parts())
    assert [part.get_content_type() for part in said.iter_parts()] == ["text/plain", "text/html"]
    assert (picture.get_content_type(), picture["Content-ID"], picture.get_content()) == ("image/png", "<logo>", png)
    assert picture.get_content_disposition() == "inline"


@pytest.mark.parametrize(
    ("base_url", "greeting", "domain"),
    [
        ("https://sign.example", "sign.example", "sign.example"),
        ("https://unterschrift.müller.example", "unterschrift.xn--mller-kva.example", None),
        ("https://straße.example:8443", "xn--strae-oqa.example", None),
        ("https://подпись.пример.example", "xn--d1aiqdcn1f.xn--e1afmkfd.example", None),
        (f"https://{'long-name.' * 20}example", f"{'long-name.' * 20}example", None),
        ("http://192.0.2.7:8000", "[192.0.2.7]", "localhost"),
        ("http://[2001:db8::7]:8000", "[IPv6:2001:db8::7]", "localhost"),
    ],
)
def test_greeting_and_headers_name_the_host_of_the_base_url(
    mailbox: Mailbox, configured: Configure, base_url: str, greeting: str, domain: str | None
) -> None:
    configured(base_url=base_url)
    send_email("a@example.org", EmailContent("s", "t"), "invite-7")
    assert set(mailbox.greetings) == {greeting}
    lines = mailbox.received[0].content.split(b"\r\n")
    assert f"Message-ID: <invite-7@{domain or greeting}>".encode() in lines
    assert f"List-Id: Paraph <paraph.{domain or greeting}>".encode() in lines


@pytest.mark.parametrize(
    "text",
    ["plain", "Grüße = 100 %", "署名してください。" * 200, "x" * 2000, "line\r\n.\r\nFrom the start\n", "ü" * 999],
)
def test_mails_have_seven_bits_and_short_lines(mailbox: Mailbox, text: str) -> None:
    content = EmailContent(f"Über {text[:60]}", text, f"<p>{text}</p>", b"\x89PNG\xff")
    with handed_over("a@example.org", content, reply_to="Ü <b@c.de>"):
        pass
    sent = mailbox.received[0].content
    assert sent.isascii() and max(map(len, sent.split(b"\r\n"))) <= 998
    plain = next(part for part in parse(sent).walk() if part.get_content_type() == "text/plain")
    assert plain.get_content().splitlines() == text.splitlines()


@pytest.mark.parametrize("mechanism", ["PLAIN", "LOGIN"])
def test_user_and_password_go_as_utf_8(configured: Configure, mechanism: str) -> None:
    mailbox = Mailbox()
    others = {"PLAIN", "LOGIN"} - {mechanism}
    with running(mailbox, configured, auth_exclude_mechanism=list(others)) as port:
        user = quote("zoë@example.org", safe="")
        url = f"smtp://{user}:{{}}@127.0.0.1:{port}"
        configured(smtp_url=url.format(quote(PASSWORD)))
        send_email("a@example.org", EmailContent("s", "t"))
        assert mailbox.logins == [(mechanism, "zoë@example.org", PASSWORD)]
        configured(smtp_url=url.format("wrong"))
        with pytest.raises(SMTPAuthenticationError):
            send_email("a@example.org", EmailContent("s", "t"))
    assert len(mailbox.received) == 1


def test_cram_md5_hashes_with_the_utf_8_of_the_password(configured: Configure) -> None:
    answers = list[bytes]()

    class Handler(Mailbox):
        async def auth_CRAM__MD5(self, server: Any, _args: list[str]) -> AuthResult:
            answers.append(await server.challenge_auth(b"<1896.697170952@example.org>"))
            return AuthResult(success=True)

    mailbox = Handler()
    with running(mailbox, configured, auth_exclude_mechanism=["PLAIN", "LOGIN"]) as port:
        configured(smtp_url=f"smtp://{quote('zoë')}:{quote(PASSWORD)}@127.0.0.1:{port}")
        send_email("a@example.org", EmailContent("s", "t"))
    digest = hmac.new(PASSWORD.encode(), b"<1896.697170952@example.org>", "md5").hexdigest()
    assert answers == [f"zoë {digest}".encode()]


def parse(content: bytes) -> EmailMessage:
    return message_from_bytes(content, policy=policy.default)


def test_an_address_that_is_none_gets_a_sentence_and_an_unreachable_server_is_repeated(configured: Configure) -> None:
    for url in ("mail.example.org", "http://mail.example.org", "smtp://host:x"):
        configured(smtp_url=url)
        with pytest.raises(DomainError, match="PARAPH_SMTP_URL must be"):
            send_email("a@example.org", EmailContent("s", "t"))
    configured(smtp_url="smtp://127.0.0.1:1")
    with pytest.raises(OSError):
        send_email("a@example.org", EmailContent("s", "t"))
    assert list(captured_messages()) == []


def test_without_a_gateway_messages_are_captured_in_order_and_once() -> None:
    """A logo is embedded in the HTML."""
    html = '<p>cid:logo</p><img src="{}">'
    content = EmailContent("Code", "123456", html.format("cid:logo"), logo=b"\x89PNG")
    first = send_email("a@example.org", content, "code-1")
    assert send_email("a@example.org", content, "code-1") == first
    send_sms("+33612345678", "654321")
    kept = [(m.to, m.channel, m.subject, m.text, m.html) for m in captured_messages()]
    assert kept == [
        ("a@example.org", "email", "Code", "123456", html.format("data:image/png;base64,iVBORw==")),
        ("+33612345678", "sms", "", "654321", ""),
    ]
    assert first.startswith("captured:")


def test_honest_names_stay_and_a_long_one_is_cut() -> None:
    for name in (
        "St. John", "J.R. Smith", "J. R. R. Tolkien", "Müller e.V.", "S.à r.l. Dupont", "U.S.A. Inc.", "Zoë Lindqvist",
        "O’Neill-García", "Nr. 5, 3.5 %", "10:30 Uhr", "نیلوفر می‌خواهم", "क्‍षमा", "山田 太郎", "A & B <GmbH>",
    ):  # fmt: skip
        assert unlinked(name, 80) == name
    assert unlinked("x" * 200, 80) == "x" * 79 + "…"
    assert unlinked("Ada " * 20, 40) == "Ada " * 9 + "Ada…"


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("amazon.de GmbH", "amazon. de GmbH"),
        ("contract.pdf", "contract. pdf"),
        ("J.R.Smith", "J.R. Smith"),
        ("Rock@Work", "Rock @ Work"),
        ("Dept:Sales", "Dept: Sales"),
        ("win at https://evil.example/x?y", "win at evil. example/x?y"),
        ("http:\\\\evil.example", "evil. example"),
        ("www.evil.example", "www. evil. example"),
        ("mailto:a@evil.example", "mailto: a @ evil. example"),
        ("evil\uff0ecom evil\u3002com evil\u2024com", "evil\uff0e com evil\u3002 com evil\u2024 com"),
        ("user\uff20evil\uff61com", "user @ evil\uff61 com"),
        ("evil.\u200dcom evil.\u200bcom e\u202evil.com", "evil. com evil. com evil. com"),
        ("192.0.2.1/login", "192. 0. 2. 1/login"),
        ("Ada\r\nBcc: x@evil.example\u2028\x00", "Ada Bcc: x @ evil. example"),
        ("evil.xn--p1ai пример.рф भारत.भारत", "evil. xn--p1ai пример. рф भारत. भारत"),
        ("hthttp://tps://evil.example", "evil. example"),
    ],
)
def test_what_would_be_a_link_falls_apart(name: str, read: str) -> None:
    assert unlinked(name, 200) == read


def test_other_programs_find_nothing_to_link() -> None:
    for name in (
        "https://evil.com", "//evil.com/a", "www.evil.com", "evil.com", "me@evil.com", "HTTPS://EVIL.COM",
        "a.b.evil.net", "(evil.org)", "x https://evil.com/a.b.c?d=e@f.com y", "https:///evil.com",
        "https:evil.com", "evil.com.",
    ):  # fmt: skip
        assert "<a " in urlize(f"Hello {name}, sign") or "//" in name or ":" in name  # the judge can see a link
        read = unlinked(name, 200)
        assert "<a " not in urlize(f"Hello {read}, sign")
        assert not re.search(r"\S@\S|\w\.[a-z]{2}|://", read, re.IGNORECASE)
