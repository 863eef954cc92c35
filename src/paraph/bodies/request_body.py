"""The body of a call, whether its length was declared or it comes in chunks."""

from typing import Protocol

from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest


class Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


def read_body(request: HttpRequest, limit: int) -> bytes | None:
    """The whole body. None where it is larger: nothing of it is read then if that was declared, and of a body in
    chunks one byte more than allowed."""
    stream, length = body_stream(request, limit)
    if length and length > limit:
        return None
    content = stream.read(limit + 1)
    return None if len(content) > limit else content


def body_stream(request: HttpRequest, limit: int) -> tuple[Readable, int | None]:
    """The body and its declared length. A chunked body has None, and ends at the latest one byte beyond the limit.

    Django takes a body without a declared length for empty; a server that has undone the chunks gives it in
    ``wsgi.input`` (HTTP/1.1, RFC 9112 §7.1).
    """
    declared = request.META.get("CONTENT_LENGTH", "")
    if not declared and "chunked" in request.headers.get("Transfer-Encoding", "").lower():
        return LimitedStream(request.META["wsgi.input"], limit + 1), None
    return request, int(declared) if declared.isascii() and declared.isdigit() else 0
