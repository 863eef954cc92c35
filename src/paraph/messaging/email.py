"""Sending e-mail, by SMTP (``smtp://``, ``smtp+starttls://`` or ``smtps://`` ``[user:password@]host[:port]``) or
through the HTTP interface of a provider that django-anymail supports."""

import re
import smtplib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from email import charset
from email.mime.image import MIMEImage
from email.utils import make_msgid, parseaddr, quote
from ipaddress import ip_address
from smtplib import SMTPDataError, SMTPRecipientsRefused
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.smtp import EmailBackend

from paraph.kernel.errors import DomainError, RecipientRefusedError
from paraph.messaging.gateways import EMAIL, FinallyRefusedError, capture, has_gateway
from paraph.messaging.letters import EmailContent, unlinked

# ASCII only: a server that does not offer 8BITMIME (RFC 6152) may refuse or garble other characters.
_SEVEN_BITS = charset.Charset("utf-8")
_SEVEN_BITS.body_encoding = charset.QP


def send_email(to: str, content: EmailContent, message_id: str = "", *, withheld: bool = False) -> str:
    """Hand one message over as :func:`handed_over` does. Return the acknowledgement."""
    with handed_over(to, content, message_id, withheld=withheld) as acknowledgement:
        return acknowledgement


@contextmanager
def handed_over(
    to: str, content: EmailContent, message_id: str = "", *, reply_to: str = "", withheld: bool = False
) -> Iterator[str]:
    """Hand one message to the mail server (``PARAPH_SMTP_URL``) or the mail provider (``PARAPH_MAIL_PROVIDER``);
    without either, or if ``withheld``, to the captured inbox. Yield the acknowledgement, which is the gateway's reply
    or ``captured:<id>``, as soon as it is there and before the connection is closed.

    ``message_id`` names the message (letters, digits, dots, hyphens; "" for none): the same name gives the same
    Message-ID, by which receivers recognise a repeated mail. ``reply_to`` is who gets the answers, "" for the address
    of the service. Raise ``RecipientRefusedError`` when the gateway refuses this recipient,
    :class:`FinallyRefusedError` where it always will, and another ``OSError`` (``smtplib.SMTPException`` is one) when
    it does not take the mail for other reasons.
    """
    if withheld or not has_gateway(EMAIL):
        # The HTML is shown on its own, so it has to contain the picture.
        picture = f'src="data:image/png;base64,{b64encode(content.logo).decode()}"'
        html = content.html.replace('src="cid:logo"', picture) if content.logo else content.html
        yield capture("email", to, content.subject, content.text, html=html, message_id=message_id)
        return
    message = _message(to, content, message_id, [reply_to] if reply_to else [])
    if settings.PARAPH.mail_provider:
        yield _send_through_provider(message)
        return
    with smtp_gateway() as connection:
        try:
            connection.send_messages([message])
        except (SMTPDataError, SMTPRecipientsRefused) as error:
            raise refusal_of(error, to) or error from None
        yield connection.acknowledgement


def _message(to: str, content: EmailContent, message_id: str, reply_to: list[str]) -> "_Mail":
    host = mail_domain()
    headers = {
        "Auto-Submitted": "auto-generated",  # RFC 3834: out-of-office programs do not reply
        "List-Id": f"Paraph <paraph.{host}>",  # RFC 2919: receivers can sort by it
        # Never Django's own Message-ID, which names this machine and may wait for a name server.
        "Message-ID": f"<{message_id}@{host}>" if message_id else make_msgid(domain=host),
    }
    subject = " ".join(content.subject.split())  # names in it may have line breaks, which Django would refuse
    message = _Mail(subject, content.text, _from(content.from_name), [to], headers=headers, reply_to=reply_to)
    if content.html:
        message.attach_alternative(content.html, "text/html")
    if content.logo:
        picture = MIMEImage(content.logo, "png")
        picture.add_header("Content-ID", "<logo>")
        picture.add_header("Content-Disposition", "inline", filename="logo.png")
        message.attach(picture)
    return message


def service_name() -> str:
    """Return the name before the address that the service sends mails from, "" if there is none."""
    return parseaddr(settings.PARAPH.mail_from)[0]


def _from(name: str) -> str:
    """Return the From header with this name on one line, in which nothing is taken for an encoded word (RFC 2047):
    Django encodes and folds only what does not look encoded yet."""
    line = quote(" ".join(name.replace("=?", "= ?").split()))
    return f'"{line}" <{parseaddr(settings.PARAPH.mail_from)[1]}>' if line else settings.PARAPH.mail_from


class _Mail(EmailMultiAlternatives):
    """A mail whose attachments are shown in its HTML (RFC 2387), and not listed as attachments."""

    mixed_subtype = "related"
    encoding = _SEVEN_BITS
    anymail_status: Any  # the provider's answer

    def message(self, **options: Any) -> Any:
        made: Any = super().message(**options)
        made.policy = made.policy.clone(max_line_length=998)  # keeps identifiers on one line (RFC 5322, 2.1.1)
        return made


def _send_through_provider(message: _Mail) -> str:
    """Send the message and return the provider's name and id for it. Raise ``OSError`` when the provider does not
    take it, ``DomainError("configuration", …)`` as :func:`_provider` does."""
    name, connection = settings.PARAPH.mail_provider, _provider()
    from anymail.exceptions import AnymailError, AnymailRecipientsRefused  # noqa: PLC0415  an extra

    try:
        connection.send_messages([message])
    except AnymailRecipientsRefused:
        raise FinallyRefusedError(f"{name}: {', '.join(sorted(message.anymail_status.status))}") from None
    except AnymailError as error:
        raise OSError(f"{name} did not take the message: {type(error).__name__}") from error
    return f"{name} {message.anymail_status.message_id}"


def _provider() -> Any:
    """Return the provider's mail backend. Raise ``DomainError("configuration", …)`` when the extra, the provider or
    one of its settings is missing."""
    name = settings.PARAPH.mail_provider
    try:
        return get_connection(f"anymail.backends.{name}.EmailBackend")
    except ModuleNotFoundError as error:
        missing = (error.name or "").startswith("anymail.backends")
        sentence = f"there is no mail provider {name!r}" if missing else "it needs the extra paraph[mail]"
        raise DomainError("configuration", f"PARAPH_MAIL_PROVIDER: {sentence}.") from error
    except ImproperlyConfigured as error:
        cause = str(error).splitlines()[0].rstrip(".")
        raise DomainError("configuration", f"PARAPH_MAIL_PROVIDER_SETTINGS: {cause}.") from error


def check_gateway() -> str:
    """Connect, greet and log in, without sending. Return a sentence, "" where no gateway is configured. Raise
    ``OSError`` or ``DomainError("configuration", …)`` when it does not work."""
    if name := settings.PARAPH.mail_provider:
        _provider()
        return f"Mails go through {name}, whose settings are complete; only sending would try them."
    if not settings.PARAPH.smtp_url:
        return ""
    with smtp_gateway() as connection:
        return f"The mail server {connection.greet()} takes our greeting{' and login' if connection.username else ''}."


# A reply that refuses a mail has a code (RFC 5321, 4.2) and mostly an enhanced one (RFC 3463), which is more exact. The
# fault is either the recipient's mailbox, or our login, sender or relaying, which the operator has to mend. In doubt,
# the recipient is not at fault, and the mail is sent again.
_ENHANCED = re.compile(r"(?<![\d.])[45]\.(\d{1,3}\.\d{1,3})(?!\.?\d)")
_SAYS_LITTLE = ("", "1.0")
# no such mailbox, system or name; disabled, full, or a list that fails; no route; closed, or now somebody else's
_OF_RECIPIENT = re.compile(r"1\.([012346]|10)|2\.[124]|4\.(1|4|310)|7\.1[37]")
_MAILBOX = (450, 550, 551, 552, 553, 556)  # codes about the recipient's mailbox, if the reply has no more exact one
_OF_US = re.compile("relay|sender|from|auth|block|list|policy|spam|client|host|helo|limit|rate", re.IGNORECASE)
_ADDRESS = re.compile(r"<?[^\s<>]*(?:@|://)[^\s<>]*>?")
_READ, _LONGEST = 1000, 200


def refusal_of(error: SMTPRecipientsRefused | SMTPDataError, recipient: str) -> RecipientRefusedError | None:
    """Return the refusal of the recipient if the reply to ``RCPT`` or ``DATA`` is one, else None."""
    if isinstance(error, SMTPDataError):
        code, reply = error.smtp_code, error.smtp_error
    else:
        [(code, reply)] = error.recipients.values()
    words = (reply.decode(errors="replace") if isinstance(reply, bytes) else reply)[:_READ]
    found = _ENHANCED.search(words)
    status = found[1] if found else ""
    is_about_mailbox = bool(_OF_RECIPIENT.fullmatch(status)) if status else code in _MAILBOX
    if status in _SAYS_LITTLE:
        named = isinstance(error, SMTPRecipientsRefused) or recipient.casefold() in words.casefold()
        is_about_mailbox = is_about_mailbox and named and not _OF_US.search(_ADDRESS.sub("", words))
    if not is_about_mailbox or code == 421:  # 421: the server closes the connection
        return None
    kind = FinallyRefusedError if code >= 500 else RecipientRefusedError
    return kind(unlinked(_ADDRESS.sub("…", f"{code} {words}"), _LONGEST))


_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}
_TIMEOUT_SECONDS = 15


def smtp_gateway() -> "SmtpGateway":
    """Return the gateway at ``PARAPH_SMTP_URL``. Raise ``DomainError("configuration", …)``."""
    try:
        parts = urlsplit(settings.PARAPH.smtp_url)
        port = parts.port or _PORTS[parts.scheme]
    except (KeyError, ValueError) as error:
        sentence = "PARAPH_SMTP_URL must be smtp://, smtp+starttls:// or smtps:// with [user:password@]host[:port]."
        raise DomainError("configuration", sentence) from error
    return SmtpGateway(
        host=parts.hostname or "localhost",
        port=port,
        username=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        use_tls=parts.scheme == "smtp+starttls",
        use_ssl=parts.scheme == "smtps",
        timeout=_TIMEOUT_SECONDS,
    )


class SmtpGateway(EmailBackend):
    """Django's backend, which also remembers the server's reply to the message."""

    connection: "_Remembering | None"

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        return _RememberingOverTls if self.use_ssl else _Remembering

    @property
    def acknowledgement(self) -> str:
        """The reply to the last message, such as ``250 2.0.0 Ok: queued as 4XkQ``; "" before one is sent."""
        return self.connection.reply if self.connection else ""

    def greet(self) -> str:
        """Greet, name the sender of our mails and return ``host:port``. Raise ``OSError`` where the server refuses."""
        assert self.connection
        sender = parseaddr(settings.PARAPH.mail_from)[1]
        replies = {"EHLO": self.connection.ehlo(), f"MAIL FROM:<{sender}>": self.connection.mail(sender)}
        for command, (code, reply) in replies.items():
            if code != 250:
                raise OSError(f"{self.host}:{self.port} answers {command} with {code} {reply.decode(errors='replace')}")
        return f"{self.host}:{self.port}"


class _Remembering(smtplib.SMTP):
    """A connection that greets with the domain of the service and logs in with UTF-8 (RFC 4616): the standard library
    greets with the name of this machine and accepts ASCII only. It remembers the reply to the last message."""

    reply = ""

    def __init__(self, *address: Any, **options: Any) -> None:
        super().__init__(*address, **{**options, "local_hostname": _greeting()})

    def data(self, msg: Any) -> tuple[int, bytes]:
        code, reply = super().data(msg)
        self.reply = f"{code} {reply.decode(errors='replace')}"
        return code, reply

    def login(self, user: str, password: str, *, initial_response_ok: bool = True) -> tuple[int, bytes]:
        return super().login(_Utf8(user), _Utf8(password), initial_response_ok=initial_response_ok)

    def auth(self, mechanism: str, authobject: Any, *, initial_response_ok: bool = True) -> tuple[int, bytes]:
        def answer(challenge: bytes | None = None) -> Any:
            text = authobject(challenge)
            return text and _Utf8(text)

        return super().auth(mechanism, answer, initial_response_ok=initial_response_ok)


class _Utf8(str):
    """Text that is encoded as UTF-8 even if the standard library asks for ASCII."""

    def encode(self, *_: str) -> bytes:
        return super().encode()


class _RememberingOverTls(_Remembering, smtplib.SMTP_SSL):
    pass


def mail_domain() -> str:
    """Return the host of ``PARAPH_BASE_URL``, in its ``xn--`` form (RFC 5891) if it is not ASCII; ``localhost`` for an
    IP address, which is no domain."""
    host, version = _host()
    return "localhost" if version else host


def _greeting() -> str:
    """Return the name to give with EHLO: the domain, or an address in brackets (RFC 5321, 4.1.3)."""
    host, version = _host()
    return {None: host, 4: f"[{host}]", 6: f"[IPv6:{host}]"}[version]


def _host() -> tuple[str, int | None]:
    """Return the host and, of an IP address, its version."""
    host = httpx.URL(settings.PARAPH.public_url).raw_host.decode()
    try:
        return host, ip_address(host).version
    except ValueError:
        return host, None
