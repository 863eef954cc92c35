"""Calls of the API go straight to their door: of what Django and its middleware do for a page, they need nothing else
(docs/decisions/short-way.md)."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse
from django.urls import ResolverMatch
from django.utils import translation

from paraph.api.v1.door import ROUTE, door
from paraph.config.request_log import RequestLog

_PREFIX = "/api/v1"
_HEADERS = [  # of Django's own SecurityMiddleware and LocaleMiddleware, which these calls do not meet
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Vary", "Accept-Language"),
]
_MATCH = ResolverMatch(door, (), {}, route=ROUTE)  # for the log, until the door knows the route


def is_short(path: str) -> bool:
    """Whether this is a path of the API."""
    return path.startswith(_PREFIX) and path[len(_PREFIX) :][:1] in ("", "/")


def short_way(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """A WSGI application for those paths."""
    close_old_connections()  # as Django does when a request starts and when it has finished
    try:
        response = _logged(WSGIRequest(environ))
    finally:
        close_old_connections()
    start_response(f"{response.status_code} {response.reason_phrase}", [*response.items(), *_HEADERS])
    return [response.content]


def _answer(request: HttpRequest) -> HttpResponse:
    language = settings.LANGUAGE_CODE
    if "HTTP_ACCEPT_LANGUAGE" in request.META:
        language = translation.get_language_from_request(request)
    translation.activate(language)
    request.resolver_match = _MATCH
    response = door(request)
    response.headers["Content-Language"] = language
    return response


_logged = RequestLog(_answer)
