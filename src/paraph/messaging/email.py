"""Sending e-mail, by SMTP or through the HTTP interface of a provider that django-anymail supports."""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from email import charset
from email.mime.image import MIMEImage
from email.utils import make_msgid, parseaddr, quote
from smtplib import SMTPDataError, SMTPRecipientsRefused
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMultiAlternatives, get_connection

from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import EMAIL, has_gateway
from paraph.messaging.inbox import capture
from paraph.messaging.letters import EmailContent
from paraph.messaging.refusals import FinallyRefusedError, refusal_of
from paraph.messaging.smtp import mail_domain, smtp_gateway

# Every server takes it: one that does not offer 8BITMIME (RFC 6152) may refuse or garble other letters.
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
    without either, or if ``withheld``, to the captured inbox. The block runs as soon as the acknowledgement is there,
    which is the gateway's reply, or ``captured:<id>``, and before the connection is ended.

    ``message_id`` names the message (letters, digits, dots, hyphens; "" for none): the same name gives the same
    Message-ID, by which receivers recognise a repeated mail. ``reply_to`` is who gets the answers, "" for the address
    of the service. Raise ``RecipientRefusedError`` when the gateway refuses this recipient,
    :class:`FinallyRefusedError` where it always will, and another ``OSError`` (``smtplib.SMTPException`` is one) when
    it does not take the mail for other reasons.
    """
    if withheld or not has_gateway(EMAIL):
        # As a file that is looked at by itself.
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
        "Auto-Submitted": "auto-generated",  # RFC 3834: no absence note answers it
        "List-Id": f"Paraph <paraph.{host}>",  # RFC 2919: what receivers sort by
        # Never Django's own Message-ID, which names this machine and may wait for a name server.
        "Message-ID": f"<{message_id}@{host}>" if message_id else make_msgid(domain=host),
    }
    subject = " ".join(content.subject.split())  # names in it may have line breaks, which Django would refuse
    message = _Mail(subject, content.text, _from(content.from_name), [to], headers=headers, reply_to=reply_to)
    if content.html:
        message.attach_alternative(content.html, "text/html")
    if content.logo:
        message.attach(_inline(content.logo))
    return message


def service_name() -> str:
    """Return what the service calls itself before the address that it writes from, "" for nothing."""
    return parseaddr(settings.PARAPH.mail_from)[0]


def _from(name: str) -> str:
    """Return the sender with this name on one line, in which nothing is taken for an encoded word (RFC 2047). Django
    encodes and folds it only where it is not encoded yet."""
    line = quote(" ".join(name.replace("=?", "= ?").split()))
    return f'"{line}" <{parseaddr(settings.PARAPH.mail_from)[1]}>' if line else settings.PARAPH.mail_from


class _Mail(EmailMultiAlternatives):
    """A mail whose attachments belong to its HTML (RFC 2387): mail programs show it there, and not as an attachment."""

    mixed_subtype = "related"
    encoding = _SEVEN_BITS
    anymail_status: Any  # what a provider said of it

    def message(self, **options: Any) -> Any:
        made: Any = super().message(**options)
        made.policy = made.policy.clone(max_line_length=998)  # identifiers stand on one line (RFC 5322, 2.1.1)
        return made


def _inline(logo: bytes) -> MIMEImage:
    picture = MIMEImage(logo, "png")
    picture.add_header("Content-ID", "<logo>")
    picture.add_header("Content-Disposition", "inline", filename="logo.png")
    return picture


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
