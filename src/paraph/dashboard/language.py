"""The language that a person chose for their account, else the one that their browser asks for."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation


class AccountLanguage:
    """The middleware, which reads the account: it stands behind the one that finds it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        chosen = request.user.language if request.user.is_authenticated else ""
        if not chosen:
            return self._get_response(request)
        with translation.override(chosen):
            response = self._get_response(request)
        response.headers["Content-Language"] = chosen
        return response
