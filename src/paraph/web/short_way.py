"""Calls of the API go straight to their door: of what Django and its middleware do for a page, they need nothing else
(docs/decisions/short-way.md)."""

from collections.abc import Callable
from http.client import responses
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.db import connection
from django.http import HttpRequest
from django.urls import ResolverMatch
from django.utils import translation

from paraph.api.v1.answers import Answer
from paraph.api.v1.door import ROUTE, call
from paraph.web.request_log import RequestLog
from paraph.web.strict_transport import strict_transport

_PREFIX = "/api/v1"
_HEADERS = [  # of Django's own SecurityMiddleware and LocaleMiddleware, which these calls do not meet
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Vary", "Accept-Language"),
]
_MATCH = ResolverMatch(call, (), {}, route=ROUTE)  # for the log, until the door knows the route


def is_short(path: str) -> bool:
    """Whether this is a path of the API."""
    return path.startswith(_PREFIX) and path[len(_PREFIX) :][:1] in ("", "/")


def short_way(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
    """A WSGI application for those paths."""
    try:
        answer = _logged(WSGIRequest(environ))
    finally:
        connection.close_if_unusable_or_obsolete()  # as Django does after each request
    status = f"{answer.status_code} {responses[answer.status_code]}"
    start_response(status, [*answer.headers.items(), *_HEADERS, *strict_transport()])
    return [answer.content]


def _answer(request: HttpRequest) -> Answer:
    language = settings.LANGUAGE_CODE
    if "HTTP_ACCEPT_LANGUAGE" in request.META:
        language = translation.get_language_from_request(request)
    translation.activate(language)
    request.resolver_match = _MATCH
    answer = call(request)
    answer.headers["Content-Language"] = language
    return answer


_logged = RequestLog(_answer)
