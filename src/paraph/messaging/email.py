"""Sending e-mail, by SMTP or through the HTTP interface of a provider that django-anymail supports."""

from base64 import b64encode
from collections.abc import Callable
from email import charset
from email.mime.image import MIMEImage
from email.utils import make_msgid, parseaddr, quote
from smtplib import SMTPDataError, SMTPRecipientsRefused
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage, EmailMultiAlternatives, get_connection

from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import EMAIL, has_gateway
from paraph.messaging.inbox import capture
from paraph.messaging.refusals import FinallyRefusedError, refusal_of
from paraph.messaging.smtp import mail_domain, smtp_gateway

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
    from_name: str = "",
    reply_to: str = "",
    withheld: bool = False,
    on_sent: Callable[[str], None] | None = None,
) -> str:
    """Hand one message to the mail server (``PARAPH_SMTP_URL``) or the mail provider (``PARAPH_MAIL_PROVIDER``);
    without either, or if ``withheld``, to the captured inbox.

    ``message_id`` names the message (letters, digits, dots, hyphens; "" for none): the same name gives the same
    Message-ID, by which receivers recognise a repeated mail. ``logo``: a PNG, shown by the HTML as ``cid:logo``.
    ``from_name`` stands before the service's address, "" for its own name. ``reply_to`` is who gets the answers, "" for
    that address. Return the acknowledgement: the gateway's reply, or ``captured:<id>``. Raise
    ``RecipientRefusedError`` when the gateway refuses this recipient, :class:`FinallyRefusedError` where it always
    will, and another ``OSError`` (``smtplib.SMTPException`` is one) when it does not take the mail for other reasons.
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
        " ".join(subject.split()),  # names in it may have line breaks, which Django would refuse
        text,
        _from(from_name),
        [to],
        headers=headers,
        reply_to=[reply_to] if reply_to else [],
    )
    if html:
        message.attach_alternative(html, "text/html")
    if logo:
        message.attach(_inline(logo))
    if settings.PARAPH.mail_provider:
        acknowledgement = _send_through_provider(message)
        notify(acknowledgement)
        return acknowledgement
    with smtp_gateway() as connection:
        try:
            connection.send_messages([message])
        except (SMTPDataError, SMTPRecipientsRefused) as error:
            raise refusal_of(error, to) or error from None
        notify(connection.acknowledgement)
        return connection.acknowledgement


def service_name() -> str:
    """Return what the service calls itself before the address that it writes from, "" for nothing."""
    return parseaddr(settings.PARAPH.mail_from)[0]


def _from(name: str) -> str:
    """Return the sender with this name on one line, in which nothing is taken for an encoded word (RFC 2047). Django
    encodes and folds it only where it is not encoded yet."""
    line = quote(" ".join(name.replace("=?", "= ?").split()))
    return f'"{line}" <{parseaddr(settings.PARAPH.mail_from)[1]}>' if line else settings.PARAPH.mail_from


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


def _send_through_provider(message: EmailMessage) -> str:
    """Send the message and return the provider's name and id for it. Raise ``OSError`` when the provider does not
    take it, ``DomainError("configuration", …)`` as :func:`_provider` does."""
    connection = _provider()
    from anymail.exceptions import AnymailError, AnymailRecipientsRefused  # noqa: PLC0415  an extra

    try:
        connection.send_messages([message])
    except AnymailRecipientsRefused:
        told: Any = getattr(message, "anymail_status", None)
        raise FinallyRefusedError(f"{settings.PARAPH.mail_provider}: {', '.join(sorted(told.status))}") from None
    except AnymailError as error:
        raise OSError(f"{settings.PARAPH.mail_provider} did not take the message: {type(error).__name__}") from error
    status: Any = getattr(message, "anymail_status", None)
    return f"{settings.PARAPH.mail_provider} {status.message_id if status else ''}".strip()


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
    """Connect, greet and log in, without sending. Return a sentence, "" where no gateway is configured.

    Raise ``OSError`` or ``DomainError("configuration", …)`` when it does not work.
    """
    if name := settings.PARAPH.mail_provider:
        _provider()
        return f"Mails go through {name}, whose settings are complete; only sending would try them."
    if not settings.PARAPH.smtp_url:
        return ""
    with smtp_gateway() as connection:
        return f"The mail server {connection.greet()} takes our greeting{' and login' if connection.username else ''}."
