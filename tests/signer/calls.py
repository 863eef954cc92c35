"""Pages as signers read them, and endpoints as other sites' pages call them."""

import html
from typing import Any

from django.test import Client

from tests.factories import Scene


def text(response: Any) -> str:
    """Return the HTML of a page with its entities resolved."""
    return html.unescape(response.content.decode())


def call(client: Client, made: Scene, rest: str, body: Any, position: int = 0, **extra: Any) -> Any:
    """Return an endpoint's answer to this JSON."""
    return client.post(made.url(position, rest), body, content_type="application/json", **extra)


def sign(client: Client, made: Scene, position: int = 0, **more: Any) -> Any:
    """Sign with a fresh code; return the answer."""
    return call(client, made, "/signature", {"code": made.code(position), "consent": True, **more}, position)


def refused(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]
