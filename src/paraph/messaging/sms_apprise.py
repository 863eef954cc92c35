"""SMS through any of the services that apprise knows: ``apprise+`` and apprise's address of the service, with
``{to}`` where the number goes, such as ``apprise+sinch://service:token@sender/{to}``."""

from urllib.parse import quote

import apprise

from paraph.kernel.errors import DomainError


def gateway(url: str) -> "AppriseGateway":
    """Raises ``DomainError("configuration", …)`` for an address that apprise does not understand."""
    template = url.removeprefix("apprise+")
    if "{to}" not in template:
        raise DomainError("configuration", "PARAPH_SMS_URL must have {to} where the number goes.")
    made = AppriseGateway(template)
    made.service("+15005550006")
    return made


class AppriseGateway:
    def __init__(self, template: str) -> None:
        self._template = template
        self._scheme = template.partition(":")[0]

    def send(self, to: str, text: str) -> str:
        if not self.service(to).notify(body=text):
            raise OSError(f"the SMS service {self._scheme} did not take the message")
        return f"apprise {self._scheme}"

    def check(self) -> str:
        return f"The SMS service {self._scheme} is understood; only sending would try it."

    def service(self, to: str) -> apprise.Apprise:
        made = apprise.Apprise()
        if not made.add(self._template.replace("{to}", quote(to, safe=""))):
            raise DomainError("configuration", f"PARAPH_SMS_URL: apprise does not understand {self._scheme}://… there.")
        return made
