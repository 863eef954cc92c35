"""The WSGI application that granian serves: Django's, and around it what the server leaves to the application about
the bodies of requests (docs/decisions/slow-bodies.md)."""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse

from paraph.kernel.places import on_behalf_of_nobody
from paraph.server.incoming_body import PIECE, IncomingBody, incoming_body
from paraph.server.slow_bodies import GRACE, working

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "paraph.config.settings")
_django = get_wsgi_application()

_DRAIN_SECONDS = 10.0

StartResponse = Callable[..., Any]


def application(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    """Django's response. One that was ready before the whole body had come leaves at once; the rest of the body is
    received afterwards and thrown away, so that a client that sends everything before it reads still gets it."""
    if (settings.PARAPH.base_url or "").startswith("https://"):
        environ["wsgi.url_scheme"] = "https"  # as clients come; the proxy that ends TLS comes by HTTP
    body = incoming_body(environ)
    if body is None:
        return _respond(environ, start_response)
    environ["wsgi.input"] = body
    started: list[tuple[str, list[tuple[str, str]]]] = []
    content = _respond(environ, lambda *status_and_headers: started.append(status_and_headers))
    [(status, headers)] = started
    awaits_continue = body.untouched and "HTTP_EXPECT" in environ  # such a client never sends what is refused
    if body.left <= PIECE and not awaits_continue:
        body.drain(PIECE, GRACE)
    if not isinstance(content, list) or not (body.left or body.cut):
        start_response(status, headers)
        return content
    headers = [header for header in headers if header[0] != "Content-Length"]  # compressed pages have one already
    start_response(status, [*headers, ("Content-Length", str(len(content[0]))), ("Connection", "close")])
    too_much = _largest_drain() < body.left < math.inf  # a body in chunks does not tell its length
    return content if too_much or body.cut or awaits_continue else _then_drain(content[0], body)


def _respond(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    """Return the pieces of the response. One whose content is complete is a single piece, which granian sends as a
    whole; it asks for every piece of anything else."""
    with working, on_behalf_of_nobody():
        response = _django(environ, start_response)
        if not isinstance(response, HttpResponse):
            return response
        content = [response.content]
        response.close()
        return content


def _then_drain(content: bytes, body: IncomingBody) -> Iterator[bytes]:
    yield content
    body.drain(_largest_drain(), _DRAIN_SECONDS)


def _largest_drain() -> int:
    """Twice as many bytes as an upload may have. The connection of a client that sends even more is closed."""
    return 2 * settings.PARAPH.upload_limit_mb * 1024 * 1024
