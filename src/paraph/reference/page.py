"""``GET /docs``: one page, the same for everybody as long as the service keeps its version and address."""

import hashlib
from functools import cache

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import etag, require_safe

from paraph.reference.contents import contents
from paraph.server.compressed import Compressed

_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",  # calls that are tried go to the service that the page came from
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)


@cache
def _html() -> Compressed:
    return Compressed(render_to_string("reference/page.html", contents()).encode(), "text/html; charset=utf-8")


@cache
def _digest() -> str:
    return f'W/"{hashlib.sha256(_html().content).hexdigest()[:32]}"'  # weak: of the compressed form as well


@require_safe
@etag(lambda request: _digest())  # noqa: ARG005  Django's form
def page(request: HttpRequest) -> HttpResponse:
    """Return the whole reference, or 304 for a browser that has it already."""
    response = _html().response(request)
    response["Content-Security-Policy"] = _POLICY
    response["Cache-Control"] = "no-cache"  # browsers ask each time, and get 304
    return response
