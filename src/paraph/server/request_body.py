"""The body of a request, with a declared length or in chunks."""

from typing import Protocol

from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest


class Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


def read_body(request: HttpRequest, limit: int) -> bytes | None:
    """The whole body, or None when it is larger than ``limit`` bytes. Of a larger body nothing is read if its length
    was declared; in chunks, one byte more than the limit."""
    stream, length = body_stream(request, limit)
    if length and length > limit:
        return None
    content = stream.read(limit + 1)
    return None if len(content) > limit else content


def body_stream(request: HttpRequest, limit: int) -> tuple[Readable, int | None]:
    """The body as a stream, with its declared length. The length of a chunked body (RFC 9112 §7.1) is None, and its
    stream ends one byte beyond the limit at the latest.

    Django treats a body without a declared length as empty; the server provides the joined chunks in ``wsgi.input``.
    """
    declared = request.META.get("CONTENT_LENGTH", "")
    if not declared and "chunked" in request.headers.get("Transfer-Encoding", "").lower():
        return LimitedStream(request.META["wsgi.input"], limit + 1), None
    return request, int(declared) if declared.isascii() and declared.isdigit() else 0
