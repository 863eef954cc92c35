"""The WSGI application that granian serves: Django's, and around it what the server leaves to the application to do
with the bodies of requests (docs/decisions/slow-clients.md)."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse

from paraph.kernel.places import on_behalf_of_nobody
from paraph.server.bodies import IncomingBody

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "paraph.config.settings")
_django = get_wsgi_application()

StartResponse = Callable[..., Any]


def application(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
    """Return Django's response. Where it is ready before the whole body has come, the rest of the body is first read
    and thrown away, so that a client or proxy that sends everything before it reads still gets the response."""
    if (settings.PARAPH.base_url or "").startswith("https://"):
        environ["wsgi.url_scheme"] = "https"  # as clients call; the proxy that ends TLS calls by HTTP
    body = _body(environ)
    if body:
        environ["wsgi.input"] = body
    with on_behalf_of_nobody():
        response = _django(environ, start_response)
        content: Iterable[bytes] = response
        if isinstance(response, HttpResponse):  # granian sends a single piece at once, but several one by one
            content = [response.content]
            response.close()
    if body:
        body.drain(2 * settings.PARAPH.upload_limit_mb * 1024 * 1024)
    return content


def _body(environ: dict[str, Any]) -> IncomingBody | None:
    """Return the body, None for a request without one."""
    length = environ.get("CONTENT_LENGTH") or ""
    if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        return IncomingBody(environ["wsgi.input"], None)
    if length.isascii() and length.isdigit() and int(length):
        return IncomingBody(environ["wsgi.input"], int(length))
    return None
