"""Headers of all pages of the dashboard: they load from nowhere else, are framed by nobody, and browsers do not keep
them."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    # Not no-referrer: browsers would then send "Origin: null" with forms, which the check against forgery refuses.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "no-store, private",
}


class Headers:
    """The middleware. A view's own headers prevail."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return guarded(self._get_response(request))


def guarded(response: HttpResponseBase) -> HttpResponseBase:
    """Add the headers that the response does not have."""
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response
