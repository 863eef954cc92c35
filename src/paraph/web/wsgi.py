"""The WSGI application that granian serves."""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.http.response import HttpResponseBase

from paraph.web.incoming_body import PIECE, IncomingBody
from paraph.web.slow_bodies import GRACE, working

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "paraph.config.settings")
_django = get_wsgi_application()

from paraph.web.header_names import has_probe, refuse  # noqa: E402  Django has to be set up
from paraph.web.short_way import is_short, short_way  # noqa: E402

_DRAIN_SECONDS = 10.0


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Django's and the short way's, with a body that is already there handed over in one piece: granian takes such a
    list at once, and comes back for each piece of anything else."""
    if has_probe(environ):
        return refuse(start_response)
    respond = short_way if is_short(environ["PATH_INFO"]) else _django
    body = _body(environ)
    if body is None:
        with working():
            return _in_one_piece(respond(environ, start_response))
    environ["wsgi.input"] = body
    started: list[tuple[str, list[tuple[str, str]]]] = []
    with working():
        content = _in_one_piece(respond(environ, _noting(started)))
    [(status, headers)] = started
    waits_to_be_told = body.untouched and "HTTP_EXPECT" in environ  # 100-continue: it never sends what is refused
    if body.left <= PIECE and not waits_to_be_told:
        body.drain(PIECE, GRACE)
    if isinstance(content, list) and (body.left or body.cut):
        return _refused(content[0], body, waits_to_be_told, lambda more: start_response(status, headers + more))
    body.close()
    start_response(status, headers)
    return content


def _refused(
    content: bytes, body: IncomingBody, waits_to_be_told: bool, start: Callable[[list[tuple[str, str]]], object]
) -> Iterable[bytes]:
    """The answer leaves before all of the body came, and then the rest is let in and thrown away."""
    start([("Content-Length", str(len(content))), ("Connection", "close")])
    too_much = _most() < body.left < math.inf  # of a body in chunks nobody knows
    if too_much or body.cut or waits_to_be_told:
        body.close()
        return [content]
    return _then_drain(content, body)


def _noting(started: list[tuple[str, list[tuple[str, str]]]]) -> Callable[..., Callable[[bytes], object]]:
    def start(status: str, headers: list[tuple[str, str]], _exc_info: object = None, /) -> Callable[[bytes], object]:
        started.append((status, headers))
        return _write

    return start


def _write(_content: bytes) -> None:
    """Of the time before responses were iterated (PEP 3333); Django does not call it."""


def _in_one_piece(response: HttpResponseBase | list[bytes]) -> Iterable[bytes]:
    if type(response) is not HttpResponse:
        return response  # a list already, or what is sent as it comes
    body = [response.content]
    response.close()
    return body


def _body(environ: dict[str, Any]) -> IncomingBody | None:
    """None where the request has no body."""
    length = environ.get("CONTENT_LENGTH") or ""
    if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        return IncomingBody(environ["wsgi.input"], None)
    if length.isascii() and length.isdigit() and int(length):
        return IncomingBody(environ["wsgi.input"], int(length))
    return None


def _then_drain(content: bytes, body: IncomingBody) -> Iterator[bytes]:
    try:
        yield content
        body.drain(_most(), _DRAIN_SECONDS)
    finally:
        body.close()


def _most() -> int:
    """As much again as an upload may have; whoever sends still more has its connection closed."""
    return 2 * settings.PARAPH.upload_limit_mb * 1024 * 1024
