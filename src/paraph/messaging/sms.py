"""Sending SMS, and the interface of SMS gateways. A new provider is a copy of :mod:`paraph.messaging.sms_twilio`;
docs/sms-gateways.md has the checklist."""

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from django.conf import settings

from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import SMS, capture, has_gateway

_MODULES = {"twilio": "sms_twilio", "apprise": "sms_apprise"}  # by the scheme of PARAPH_SMS_URL


class SmsGateway(Protocol):
    def send(self, to: str, text: str) -> str:
        """Hand one message over; ``to`` is in E.164 form. Return the operator's acknowledgement.
        Raise ``FinallyRefusedError`` (:mod:`paraph.messaging.gateways`) if the operator will never take a message to
        this number, and another ``OSError`` if it did not take the message for other reasons, with neither ``to`` nor
        ``text`` in the error's message."""

    def check(self) -> str:
        """Try the gateway without sending; return a sentence about it. Raise ``OSError``."""


def send_sms(to: str, text: str, *, withheld: bool = False) -> str:
    """Hand one message to the SMS gateway (``PARAPH_SMS_URL``); without one, or if ``withheld``, to the captured inbox.
    ``to`` is in E.164 form. Return the operator's acknowledgement, or ``captured:<id>``. Raise what
    :meth:`SmsGateway.send` raises."""
    if withheld or not has_gateway(SMS):
        return capture("sms", to, "", text)
    return _gateway().send(to, text)


def check_gateway() -> str:
    """Return a sentence about the gateway, "" where none is set. Raise ``OSError`` or ``DomainError("configuration",
    …)`` when it does not work."""
    return _gateway().check() if settings.PARAPH.sms_url else ""


def _gateway() -> SmsGateway:
    """Return the gateway at ``PARAPH_SMS_URL``. Raise ``DomainError("configuration", …)``."""
    url = settings.PARAPH.sms_url
    scheme = url.partition(":")[0].partition("+")[0]
    if scheme not in _MODULES:
        raise DomainError("configuration", "PARAPH_SMS_URL must begin with twilio:// or apprise+.")
    try:
        gateway: Callable[[str], SmsGateway] = import_module(f"paraph.messaging.{_MODULES[scheme]}").Gateway
    except ModuleNotFoundError as error:
        raise DomainError("configuration", f"PARAPH_SMS_URL: it needs the extra paraph[{scheme}].") from error
    return gateway(url)
