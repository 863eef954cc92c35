"""Sending e-mail."""

from base64 import b64encode
from collections.abc import Callable
from email import charset
from email.mime.image import MIMEImage
from email.utils import make_msgid
from typing import Any

from django.conf import settings
from django.core.mail import EmailMultiAlternatives

from paraph.messaging import provider
from paraph.messaging.gateways import EMAIL, has_gateway
from paraph.messaging.inbox import capture
from paraph.messaging.mail_domain import mail_domain
from paraph.messaging.smtp import smtp_gateway

# Every server takes it: one that does not offer 8BITMIME (RFC 6152) may refuse or garble other letters.
_SEVEN_BITS = charset.Charset("utf-8")
_SEVEN_BITS.body_encoding = charset.QP


def send_email(
    to: str,
    subject: str,
    text: str,
    html: str = "",
    message_id: str = "",
    *,
    logo: bytes = b"",
    reply_to: str = "",
    withheld: bool = False,
    on_sent: Callable[[str], None] | None = None,
) -> str:
    """Hand one message to the mail server (``PARAPH_SMTP_URL``) or the mail provider (``PARAPH_MAIL_PROVIDER``);
    without either, or if ``withheld``, to the captured inbox.

    ``message_id`` names the message (letters, digits, dots, hyphens; "" for none): the same name gives the same
    Message-ID, by which receivers recognise a repeated mail. ``logo``: a PNG, shown by the HTML as ``cid:logo``.
    ``reply_to`` is who gets the answers, "" for the sender's own address. Return the acknowledgement: the gateway's
    reply, or ``captured:<id>``. Raise ``OSError`` (``smtplib.SMTPException`` is one) when the gateway does not take it.
    ``on_sent`` is called with the acknowledgement as soon as it is there, before the connection is ended.
    """
    notify = on_sent or (lambda _acknowledgement: None)
    if withheld or not has_gateway(EMAIL):
        acknowledgement = capture("email", to, subject, text, html=_with_picture(html, logo), message_id=message_id)
        notify(acknowledgement)
        return acknowledgement
    host = mail_domain()
    headers = {
        "Auto-Submitted": "auto-generated",  # RFC 3834: no absence note answers it
        "List-Id": f"Paraph <paraph.{host}>",  # RFC 2919: what receivers sort by
    }
    # Never Django's own Message-ID, which names this machine and may wait for a name server.
    headers["Message-ID"] = f"<{message_id}@{host}>" if message_id else make_msgid(domain=host)
    message = _Mail(
        _one_line(subject),
        text,
        settings.PARAPH.mail_from,
        [to],
        headers=headers,
        reply_to=[reply_to] if reply_to else [],
    )
    if html:
        message.attach_alternative(html, "text/html")
    if logo:
        message.attach(_inline(logo))
    if settings.PARAPH.mail_provider:
        acknowledgement = provider.hand_over(message)
        notify(acknowledgement)
        return acknowledgement
    with smtp_gateway(settings.PARAPH.smtp_url) as connection:
        connection.send_messages([message])
        notify(connection.acknowledgement)
        return connection.acknowledgement


def _with_picture(html: str, logo: bytes) -> str:
    """Return the HTML with the logo in it, as a file that is looked at by itself."""
    return html.replace('src="cid:logo"', f'src="data:image/png;base64,{b64encode(logo).decode()}"') if logo else html


class _Mail(EmailMultiAlternatives):
    """A mail whose attachments belong to its HTML (RFC 2387): mail programs show it there, and not as an attachment."""

    mixed_subtype = "related"
    encoding = _SEVEN_BITS

    def message(self, **options: Any) -> Any:
        made: Any = super().message(**options)
        made.policy = made.policy.clone(max_line_length=998)  # identifiers stand on one line (RFC 5322, 2.1.1)
        return made


def _inline(logo: bytes) -> MIMEImage:
    picture = MIMEImage(logo, "png")
    picture.add_header("Content-ID", "<logo>")
    picture.add_header("Content-Disposition", "inline", filename="logo.png")
    return picture


def check_gateway() -> str:
    """Connect, greet and log in, without sending. Return a sentence, "" where no gateway is configured.

    Raise ``OSError`` or ``DomainError("configuration", …)`` when it does not work.
    """
    if name := settings.PARAPH.mail_provider:
        provider.backend()
        return f"Mails go through {name}, whose settings are complete; only sending would try them."
    if not settings.PARAPH.smtp_url:
        return ""
    with smtp_gateway(settings.PARAPH.smtp_url) as connection:
        return f"The mail server {connection.greet()} takes our greeting{' and login' if connection.username else ''}."


def _one_line(subject: str) -> str:
    """Join the lines of a subject: names in it may have line breaks, which Django would refuse."""
    return " ".join(subject.split())
