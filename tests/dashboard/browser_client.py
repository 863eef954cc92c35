"""A client that has the dashboard's cookies, which Django's takes for the keys of sessions."""

from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.test import Client

from paraph.dashboard.account.sessions import SessionStore, cookie_of, key_of


class BrowserClient(Client):
    def force_login(self, user: Any, backend: str | None = None) -> None:
        super().force_login(user, backend)
        self.cookies[settings.SESSION_COOKIE_NAME] = cookie_of(self.cookies[settings.SESSION_COOKIE_NAME].value)

    @property
    def session(self) -> SessionBase:
        """The session of the cookie, else a new one with its cookie."""
        cookie = self.cookies.get(settings.SESSION_COOKIE_NAME)
        if cookie:
            return SessionStore(key_of(cookie.value))
        session = SessionStore()
        session.save()
        assert session.session_key
        self.cookies[settings.SESSION_COOKIE_NAME] = cookie_of(session.session_key)
        return session
