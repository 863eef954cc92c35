"""The language of a response: the one that ``Accept-Language`` prefers, English without that header.

Django's LocaleMiddleware looks for languages in paths as well, which the service does not have, and costs as much as
the rest of a read of the API between the URL map and the database (docs/decisions/one-road.md).
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers


class Language:
    """The middleware. A view that chooses another language sets ``Content-Language`` itself."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response
        self._default = settings.LANGUAGE_CODE

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        language = self._default
        if "HTTP_ACCEPT_LANGUAGE" in request.META:
            language = translation.get_language_from_request(request)
        translation.activate(language)
        response = self._get_response(request)
        if "Vary" in response.headers:
            patch_vary_headers(response, ("Accept-Language",))
        else:
            response.headers["Vary"] = "Accept-Language"
        response.headers.setdefault("Content-Language", language)
        return response
