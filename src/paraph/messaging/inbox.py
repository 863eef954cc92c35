"""Capturing messages instead of sending them, and reading them."""

from collections.abc import Iterable

from paraph.messaging.models import CapturedMessage


def capture(channel: str, to: str, subject: str, text: str, *, html: str = "", message_id: str = "") -> str:
    """Stores the message in the transaction of the caller; returns ``captured:<its id>``."""
    fields = {"to": to, "channel": channel, "subject": subject[:500], "text": text, "html": html}
    if message_id:
        message, _ = CapturedMessage.objects.get_or_create(message_id=message_id, defaults=fields)
    else:
        message = CapturedMessage.objects.create(**fields)
    return f"captured:{message.pk}"


def messages() -> Iterable[CapturedMessage]:
    """Returns all captured messages, newest last."""
    return CapturedMessage.objects.order_by("id").iterator()
