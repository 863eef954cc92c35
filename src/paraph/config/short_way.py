"""Calls of the API go straight to their door: nothing that stands between serves them."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import ResolverMatch
from django.utils import translation

from paraph.api.v1.door import ROUTE, door

_PREFIX = "/api/v1"
_HEADERS = {  # of Django's own SecurityMiddleware and LocaleMiddleware, which these calls do not meet
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Vary": "Accept-Language",
}
_MATCH = ResolverMatch(door, (), {}, route=ROUTE)  # for the log, until the door knows the route


class ShortWay:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if not path.startswith(_PREFIX) or path[len(_PREFIX) :][:1] not in ("", "/"):
            return self._get_response(request)
        language = settings.LANGUAGE_CODE
        if "HTTP_ACCEPT_LANGUAGE" in request.META:
            language = translation.get_language_from_request(request)
        translation.activate(language)
        request.resolver_match = _MATCH
        response = door(request)
        for name, value in _HEADERS.items():
            response.headers[name] = value
        response.headers["Content-Language"] = language
        return response
