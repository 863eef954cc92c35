"""The mail gateway, ``smtp://``, ``smtp+starttls://`` or ``smtps://`` ``[user:password@]host[:port]``; and the domain
of this service in mails, the host of its public address in ASCII."""

import smtplib
from email.utils import parseaddr
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
from django.conf import settings
from django.core.mail.backends.smtp import EmailBackend

from paraph.kernel.errors import DomainError

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
    """A connection that greets with the domain of the service and logs in with UTF-8 (RFC 4616), where the standard
    library greets with the name of this machine and takes ASCII alone."""

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
    """Text that is UTF-8 also where the standard library asks for its ASCII."""

    def encode(self, *_: str) -> bytes:
        return super().encode()


class _RememberingOverTls(_Remembering, smtplib.SMTP_SSL):
    pass


def mail_domain() -> str:
    """Return the host of ``PARAPH_BASE_URL``, a name of other letters in its ``xn--`` form (RFC 5891); ``localhost``
    for an IP address, which is no domain."""
    host, version = _host()
    return "localhost" if version else host


def _greeting() -> str:
    """Return what EHLO names: the domain, or an address in brackets (RFC 5321, 4.1.3)."""
    host, version = _host()
    return {None: host, 4: f"[{host}]", 6: f"[IPv6:{host}]"}[version]


def _host() -> tuple[str, int | None]:
    """Return the host and, of an IP address, its version."""
    host = httpx.URL(settings.PARAPH.public_url).raw_host.decode()
    try:
        return host, ip_address(host).version
    except ValueError:
        return host, None
