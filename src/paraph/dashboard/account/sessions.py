"""Sessions of members. Nothing in the database opens a session: the cookie is the key of the row followed by a keyed
hash of that key, and the data of a session is encrypted. Both need the secret of the service."""

from base64 import b64decode, b64encode
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends import db
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.signing import BadSignature, Signer
from django.http import HttpRequest, HttpResponse

_PURPOSE, _COOKIE_PURPOSE = "sessions", "session cookies"


class SessionStore(db.SessionStore):
    """``SESSION_ENGINE``. While somebody sets a password or an authenticator app up, its secret is in the session."""

    def encode(self, session_dict: dict[str, Any]) -> str:
        plain: bytes = self.serializer().dumps(session_dict)
        return b64encode(settings.SECRETS.encrypt(_PURPOSE, plain)).decode()

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Return what was encoded; nothing where no secret opens it, which ends the session."""
        try:
            plain = settings.SECRETS.decrypt(_PURPOSE, b64decode(session_data))
        except ValueError:
            return {}
        found: dict[str, Any] = self.serializer().loads(plain)
        return found


class Sessions(SessionMiddleware):
    """Django's middleware, whose cookie holds the session's key with its keyed hash."""

    def process_request(self, request: HttpRequest) -> None:
        request.session = SessionStore(key_of(request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")))

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response = super().process_response(request, response)
        made = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if made is not None and made.value:  # a cookie without a value removes the earlier one
            response.cookies[settings.SESSION_COOKIE_NAME] = cookie_of(made.value)
        return response


def cookie_of(session_key: str) -> str:
    return _signer().sign(session_key)


def key_of(cookie: str) -> str | None:
    """Return the key of the session that the cookie opens, None for a cookie that was not made with a secret."""
    try:
        return _signer().unsign(cookie)
    except BadSignature:
        return None


def _signer() -> Signer:
    keys: list[bytes | str] = [*settings.SECRETS.keys(_COOKIE_PURPOSE)]
    return Signer(key=keys[0], fallback_keys=keys[1:], salt=_COOKIE_PURPOSE)
