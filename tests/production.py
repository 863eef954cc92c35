"""Django's test client with the WSGI application that the server runs: requests take the same way as in production."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.http import HttpResponse
from django.test import Client as DjangoClient

from paraph.server.wsgi import application


class Client(DjangoClient):
    """A client whose ``response.content`` is the whole body that was sent."""

    def __init__(self, **defaults: Any) -> None:
        super().__init__(**defaults)
        self.handler: Any = respond


def respond(environ: dict[str, Any]) -> HttpResponse:
    """Return the whole answer of the application, without content for ``HEAD``, since the server sends none."""
    request: Any = WSGIRequest(environ | {"wsgi.input": io.BytesIO()})
    environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read())
    started: list[tuple[str, list[tuple[str, str]]]] = []
    with _kept_connection():
        pieces: Any = application(environ, lambda *status_and_headers: started.append(status_and_headers))
        content = b"".join(pieces)
        getattr(pieces, "close", int)()
    [(status, headers)] = started
    response: Any = HttpResponse(b"" if request.method == "HEAD" else content, status=int(status.split()[0]))
    response.wsgi_request = request
    del response.headers["Content-Type"]
    for name, value in headers:
        response.headers[name] = value
    return response  # type: ignore[no-any-return]


@contextmanager
def _kept_connection() -> Iterator[None]:
    """The connection to the database is the test's, often within a transaction, and outlives the request."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)
