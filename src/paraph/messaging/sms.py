"""Sending SMS."""

from django.conf import settings

from paraph.messaging.gateways import SMS, has_gateway
from paraph.messaging.inbox import capture
from paraph.messaging.sms_gateway import sms_gateway


def send_sms(to: str, text: str, message_id: str = "", *, withheld: bool = False) -> str:
    """Hand one message to the SMS gateway (``PARAPH_SMS_URL``); without one, or if ``withheld``, to the captured
    inbox.

    ``to`` is in E.164 form. Return the operator's acknowledgement, or ``captured:<id>``. Raise ``OSError`` when the
    message was not taken.
    """
    if withheld or not has_gateway(SMS):
        return capture("sms", to, "", text, message_id=message_id)
    return sms_gateway(settings.PARAPH.sms_url).send(to, text)


def check_gateway() -> str:
    """Return a sentence about the gateway, "" where none is set. Raise ``OSError`` or ``DomainError("configuration",
    …)`` when it does not work."""
    return sms_gateway(settings.PARAPH.sms_url).check() if settings.PARAPH.sms_url else ""
