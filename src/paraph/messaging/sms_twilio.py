"""Sending SMS through Twilio: ``twilio://ACCOUNT_SID:AUTH_TOKEN@SENDER``. ``SENDER`` is a number (``+15005550006``) or
a messaging service (``MG…``). ``?api=https://…`` names another host that speaks Twilio's interface."""

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from twilio.base.exceptions import TwilioException, TwilioRestException
from twilio.http.http_client import TwilioHttpClient
from twilio.rest import Client

from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import FinallyRefusedError

_TIMEOUT_SECONDS = 15
_OF_NUMBER = {  # codes of errors that are permanent for a number
    21211: "not a phone number",
    21265: "a short code, which gets no SMS",
    21610: "its owner wants no messages",
    21614: "not a mobile number",
    21635: "a landline",
}


class Gateway:
    def __init__(self, url: str) -> None:
        """Raise ``DomainError("configuration", …)`` for an address without account, token or sender."""
        parts = urlsplit(url)
        sender = unquote(parts.netloc.rpartition("@")[2])
        if not (parts.username and parts.password and sender):
            raise DomainError("configuration", "PARAPH_SMS_URL must be twilio://ACCOUNT_SID:AUTH_TOKEN@SENDER.")
        http = TwilioHttpClient(timeout=_TIMEOUT_SECONDS, pool_connections=False)
        self._account = unquote(parts.username)
        self._client = Client(self._account, unquote(parts.password), http_client=http)
        if api := parse_qs(parts.query).get("api"):
            self._client.api.base_url = api[0].rstrip("/")
        self._sender = {"messaging_service_sid" if sender.startswith("MG") else "from_": sender}

    def send(self, to: str, text: str) -> str:
        message = _call(lambda: self._client.messages.create(to=to, body=text, **self._sender))
        return f"twilio {message.sid} {message.status}"

    def check(self) -> str:
        account = _call(lambda: self._client.api.accounts(self._account).fetch())
        return f"Twilio knows the account, which is {account.status}."


def _call(request: Any) -> Any:
    """Raise ``OSError`` with the codes of Twilio's error, as its messages quote the number."""
    try:
        return request()
    except TwilioRestException as error:
        if error.code in _OF_NUMBER:
            raise FinallyRefusedError(f"Twilio {error.code}: {_OF_NUMBER[error.code]}") from None
        raise OSError(f"Twilio answered with status {error.status}, code {error.code}") from error
    except TwilioException as error:
        raise OSError(f"Twilio cannot be used ({type(error).__name__})") from error
