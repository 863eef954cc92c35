"""Sending SMS through a service that apprise supports: ``apprise+`` and apprise's address of the service, with ``{to}``
in place of the number, such as ``apprise+sinch://service:token@sender/{to}``."""

from urllib.parse import quote

import apprise

from paraph.kernel.errors import DomainError


class Gateway:
    def __init__(self, url: str) -> None:
        """Raise ``DomainError("configuration", …)`` for an address that apprise does not understand."""
        self._template = url.removeprefix("apprise+")
        self._scheme = self._template.partition(":")[0]
        if "{to}" not in self._template:
            raise DomainError("configuration", "PARAPH_SMS_URL must have {to} where the number goes.")
        self._service("+15005550006")

    def send(self, to: str, text: str) -> str:
        if not self._service(to).notify(body=text):
            raise OSError(f"the SMS service {self._scheme} did not take the message")
        return f"apprise {self._scheme}"

    def check(self) -> str:
        return f"The SMS service {self._scheme} is understood; only sending would try it."

    def _service(self, to: str) -> apprise.Apprise:
        service = apprise.Apprise()
        if not service.add(self._template.replace("{to}", quote(to, safe=""))):
            raise DomainError("configuration", f"PARAPH_SMS_URL: apprise does not understand {self._scheme}://… there.")
        return service
