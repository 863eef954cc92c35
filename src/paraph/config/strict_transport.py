"""``Strict-Transport-Security``: browsers that have come by https once never come by http again."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

NAME = "Strict-Transport-Security"
VALUE = "max-age=31536000"  # a year. Without includeSubDomains: other hosts of the domain are not ours to rule


def by_https() -> bool:
    """Whether that is how the service is reached."""
    return bool(settings.PARAPH.public_url.startswith("https://"))


class StrictTransport:
    """The middleware. Django's own looks at the request, which comes by http from the proxy that ends TLS."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        if by_https():
            response.headers[NAME] = VALUE
        return response
