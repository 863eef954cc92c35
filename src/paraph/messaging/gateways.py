"""Whether messages leave the service: without a gateway they are captured, or refused if somebody waits for them.
Also hashes of addresses and numbers, for comparisons only."""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings

from paraph.kernel import clock, tokens
from paraph.kernel.errors import RecipientRefusedError
from paraph.messaging.models import CapturedMessage

EMAIL, SMS = "email", "sms"
KEPT_FOR = timedelta(days=90)  # captured messages: as long as their links can be valid


class FinallyRefusedError(RecipientRefusedError):
    """A gateway refused the recipient for good: there is no use in sending such a message to them again."""


def has_gateway(channel: str) -> bool:
    """Return whether the operator has set a gateway for messages of this channel ("email" or "sms")."""
    asked = settings.PARAPH
    return bool(asked.sms_url) if channel == SMS else bool(asked.smtp_url or asked.mail_provider)


def is_refused(environment: str, channel: str) -> bool:
    """Return whether messages of production are refused because there is no gateway: on a service with a public
    address, where somebody waits for them, unless the operator wants them captured (``PARAPH_MAIL=captured``)."""
    asked = settings.PARAPH
    return environment == "production" and asked.is_public and asked.mail != "captured" and not has_gateway(channel)


def destination_hash(recipient: str) -> str:
    """Return a keyed hash (32 digits) of an address, ignoring its case, or of a number in E.164 form."""
    named = recipient.strip().lower().encode("utf-8", "replace")
    return tokens.keyed_hash(settings.SECRETS.key("destination"), named).hex()[:32]


def capture(channel: str, to: str, subject: str, text: str, *, html: str = "", message_id: str = "") -> str:
    """Store the message in the transaction of the caller; return ``captured:<its id>``."""
    fields = {"to": to, "channel": channel, "subject": subject[:500], "text": text, "html": html}
    if message_id:
        message, _ = CapturedMessage.objects.get_or_create(message_id=message_id, defaults=fields)
    else:
        message = CapturedMessage.objects.create(**fields)
    return f"captured:{message.pk}"


def captured(message_ids: Iterable[str]) -> int:
    """Return how many of the messages with these names were captured."""
    return CapturedMessage.objects.filter(message_id__in=list(message_ids)).count()


def captured_messages() -> Iterable[CapturedMessage]:
    """Return all captured messages, newest last."""
    return CapturedMessage.objects.order_by("id").iterator()


def forget_captured() -> int:
    """Delete the messages that were captured more than 90 days ago; return how many."""
    return CapturedMessage.objects.filter(created_at__lt=clock.now() - KEPT_FOR).delete()[0]
