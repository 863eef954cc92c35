"""People at the dashboard of a served process: browsers without scripts, which fill in forms."""

import re
from typing import Any

import httpx

from tests.attacks.conftest import Target

PASSWORD = "a long enough phrase"
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Person:
    """A person with a browser of their own."""

    def __init__(self, target: Target, email: str = "") -> None:
        self.email = email
        one_by_one = httpx.Limits(max_keepalive_connections=0)  # so that no connection stays open
        self.browser = httpx.Client(base_url=target.base_url, timeout=30, limits=one_by_one)

    def page(self, path: str, status: int = 200) -> str:
        answer = self.browser.get(path)
        assert answer.status_code == status, (path, answer.status_code, answer.text)
        return answer.text

    def token(self, path: str) -> str:
        """Return the CSRF token of the forms of a page."""
        found = _TOKEN.search(self.browser.get(path).text)
        assert found, path
        return found[1]

    def send(self, path: str, fields: dict[str, Any], files: Any = None, *, page: str = "") -> httpx.Response:
        """Send a form of ``page``, or of the page at ``path`` where none is named."""
        token = {"csrfmiddlewaretoken": self.token(page or path)}
        return self.browser.post(path, data={**token, **fields}, files=files)

    def sent(self, path: str, fields: dict[str, Any], files: Any = None, *, page: str = "") -> str:
        """Send a form that is taken; return the address that it leads to."""
        answer = self.send(path, fields, files, page=page)
        assert answer.status_code == 303, (path, answer.status_code, answer.text)
        return str(answer.headers["Location"])

    def log_in(self, password: str = PASSWORD) -> httpx.Response:
        return self.send("/account/login/", {"login": self.email, "password": password})
