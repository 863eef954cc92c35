"""The interface of SMS gateways, and the gateway of the settings.

A new provider is a copy of :mod:`paraph.messaging.sms_twilio`; docs/sms-gateways.md has the checklist.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Protocol

from paraph.kernel.errors import DomainError

_MODULES = {"twilio": "sms_twilio", "apprise": "sms_apprise"}  # by the scheme of PARAPH_SMS_URL


class SmsGateway(Protocol):
    def send(self, to: str, text: str) -> str:
        """Hand one message over; ``to`` is in E.164 form. Return the operator's acknowledgement.
        Raise ``OSError`` when it was not taken, with neither ``to`` nor ``text`` in its message."""

    def check(self) -> str:
        """Try the gateway without sending; return a sentence about it. Raise ``OSError``."""


def sms_gateway(url: str) -> SmsGateway:
    """Return the gateway at ``PARAPH_SMS_URL``. Raise ``DomainError("configuration", …)``."""
    scheme = url.partition(":")[0].partition("+")[0]
    if scheme not in _MODULES:
        raise DomainError("configuration", "PARAPH_SMS_URL must begin with twilio:// or apprise+.")
    try:
        gateway: Callable[[str], SmsGateway] = import_module(f"paraph.messaging.{_MODULES[scheme]}").gateway
    except ModuleNotFoundError as error:
        raise DomainError("configuration", f"PARAPH_SMS_URL: it needs the extra paraph[{scheme}].") from error
    return gateway(url)
