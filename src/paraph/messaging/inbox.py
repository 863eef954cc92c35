"""Capturing messages instead of sending them, and reading them."""

from collections.abc import Iterable
from datetime import timedelta

from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage

KEPT_FOR = timedelta(days=90)  # as long as a link in one can work


def capture(channel: str, to: str, subject: str, text: str, *, html: str = "", message_id: str = "") -> str:
    """Store the message in the transaction of the caller; return ``captured:<its id>``."""
    fields = {"to": to, "channel": channel, "subject": subject[:500], "text": text, "html": html}
    if message_id:
        message, _ = CapturedMessage.objects.get_or_create(message_id=message_id, defaults=fields)
    else:
        message = CapturedMessage.objects.create(**fields)
    return f"captured:{message.pk}"


def kept(message_ids: Iterable[str]) -> int:
    """Return how many of the messages with these names were captured."""
    return CapturedMessage.objects.filter(message_id__in=list(message_ids)).count()


def messages() -> Iterable[CapturedMessage]:
    """Return all captured messages, newest last."""
    return CapturedMessage.objects.order_by("id").iterator()


def forget() -> int:
    """Delete the messages that were captured 90 days ago; return how many."""
    return CapturedMessage.objects.filter(created_at__lt=clock.now() - KEPT_FOR).delete()[0]
