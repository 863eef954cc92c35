"""``GET /sign/embed.js``: the script with which other sites show a signing page in a frame (docs/embedding.md)."""

from functools import cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.gzip import gzip_page

_FILE = Path(__file__).parent / "static" / "signer" / "embed.js"
_METHODS = ["GET", "HEAD"]


@gzip_page
def embed_script(request: HttpRequest) -> HttpResponse:
    """Kept by browsers for an hour: the address never changes, so sites get a new version soon."""
    if request.method not in _METHODS:
        return HttpResponseNotAllowed(_METHODS)
    response = HttpResponse(_script(), content_type="text/javascript; charset=utf-8")
    response["Cache-Control"] = "public, max-age=3600"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"  # for sites that demand it of all that they load
    return response


@cache
def _script() -> bytes:
    return _FILE.read_bytes()
