"""The mail gateway: ``smtp://``, ``smtp+starttls://`` or ``smtps://`` ``[user:password@]host[:port]``."""

import smtplib
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.mail.backends.smtp import EmailBackend

from paraph.kernel.errors import DomainError

_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}
_TIMEOUT_SECONDS = 15


def smtp_gateway(url: str) -> "SmtpGateway":
    """Return the gateway at an address. Raise ``DomainError("configuration", …)`` for any other text."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
    except (KeyError, ValueError) as error:
        raise DomainError(
            "configuration",
            "PARAPH_SMTP_URL must be smtp://, smtp+starttls:// or smtps:// with [user:password@]host[:port].",
        ) from error
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
        """Send EHLO and return ``host:port``. Raise ``OSError`` where the server refuses."""
        assert self.connection
        code, reply = self.connection.ehlo()
        if code != 250:
            raise OSError(f"{self.host}:{self.port} answers EHLO with {code} {reply.decode(errors='replace')}")
        return f"{self.host}:{self.port}"


class _Remembering(smtplib.SMTP):
    reply = ""

    def data(self, msg: Any) -> tuple[int, bytes]:
        code, reply = super().data(msg)
        self.reply = f"{code} {reply.decode(errors='replace')}"
        return code, reply


class _RememberingOverTls(_Remembering, smtplib.SMTP_SSL):
    pass
