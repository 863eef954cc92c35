"""Contents that stay the same as long as the process runs, compressed once."""

import gzip
import re
from functools import cached_property

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

_TAKES_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")


class Compressed:
    """``content`` and its gzip form. Nothing of it may be secret, or come from a request
    (docs/decisions/compression.md)."""

    def __init__(self, content: bytes, content_type: str) -> None:
        self.content = content
        self._content_type = content_type

    def response(self, request: HttpRequest) -> HttpResponse:
        """Return the gzip form, for clients that take it."""
        takes = _TAKES_GZIP.search(request.META.get("HTTP_ACCEPT_ENCODING", ""))
        response = HttpResponse(self.gzipped if takes else self.content, content_type=self._content_type)
        if takes:
            response["Content-Encoding"] = "gzip"
        patch_vary_headers(response, ("Accept-Encoding",))
        return response

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.content, compresslevel=9, mtime=0)
