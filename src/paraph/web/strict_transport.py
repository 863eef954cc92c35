"""``Strict-Transport-Security``: browsers that have come by https once never come by http again."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

_NAME = "Strict-Transport-Security"
_VALUE = "max-age=31536000"  # a year. Without includeSubDomains: other hosts of the domain are not ours to rule


def strict_transport() -> list[tuple[str, str]]:
    """The header, where the base URL is https."""
    return [(_NAME, _VALUE)] if settings.PARAPH.public_url.startswith("https://") else []


class StrictTransport:
    """The middleware. Django's own looks at the request, which comes by http from the proxy that ends TLS."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        for name, value in strict_transport():
            response.headers[name] = value
        return response
