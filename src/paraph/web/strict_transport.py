"""``Strict-Transport-Security``: a browser that has once come by HTTPS never comes by HTTP again."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

_VALUE = "max-age=31536000"  # a year. Without includeSubDomains: other hosts of the domain are not ours to rule


class StrictTransport:
    """The middleware, for services whose base URL is HTTPS. Django's own looks at the request instead, which comes by
    HTTP from the proxy that ends TLS."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        if (settings.PARAPH.base_url or "").startswith("https://"):
            response.headers["Strict-Transport-Security"] = _VALUE
        return response
