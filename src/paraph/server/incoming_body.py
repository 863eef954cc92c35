"""The body of a request, bounded in size. That it comes quickly is for the proxy in front to see to
(docs/decisions/slow-clients.md)."""

import math
from io import RawIOBase
from typing import Protocol

from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError

_PIECE = 64 * 1024  # bytes that are read at a time of what is thrown away


class Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


def read_body(request: HttpRequest, limit: int) -> bytes | None:
    """Return the whole body, or None when it is larger than ``limit`` bytes. Of a larger body nothing is read if its
    length was declared; in chunks, one byte more than the limit."""
    stream, length = body_stream(request, limit)
    if length and length > limit:
        return None
    content = stream.read(limit + 1)
    return None if len(content) > limit else content


def body_stream(request: HttpRequest, limit: int) -> tuple[Readable, int | None]:
    """Return the body as a stream, with its declared length. The length of a chunked body (RFC 9112 §7.1) is None, and
    its stream ends one byte beyond the limit at the latest.

    Django treats a body without a declared length as empty; the server provides the joined chunks in ``wsgi.input``.
    """
    declared = request.META.get("CONTENT_LENGTH", "")
    if not declared and "chunked" in request.headers.get("Transfer-Encoding", "").lower():
        return LimitedStream(request.META["wsgi.input"], limit + 1), None
    return request, int(declared) if declared.isascii() and declared.isdigit() else 0


class IncomingBody(RawIOBase):
    """A body that may not end before its declared ``length``, which is None for one in chunks. ``left``: bytes that
    may still come, infinitely many of a body in chunks."""

    def __init__(self, stream: Readable, length: int | None) -> None:
        self._stream = stream
        self.left: float = math.inf if length is None else length

    def read(self, size: int = -1, /) -> bytes:
        """Return as many bytes as asked for, fewer only at the end. Raise ``DomainError("request_timeout", …)`` for a
        body that is cut: its client has gone, or was cut off by the proxy for being slow."""
        block, cut = self._read(size)
        if cut:
            raise DomainError("request_timeout", _("The body of the request arrived too slowly."))
        return block

    def drain(self, most: int) -> None:
        """Read and throw away, until the end or until ``most`` bytes; nothing of a body that announces more."""
        if most < self.left < math.inf:
            return
        while self.left and most > 0:
            self._read(_PIECE)
            most -= _PIECE

    def _read(self, size: int) -> tuple[bytes, bool]:
        """Return a block, and whether the body ended with it before its time."""
        wanted = min(size, self.left) if size >= 0 else self.left
        block = self._stream.read(int(wanted) if wanted < math.inf else -1)
        cut = len(block) < wanted and self.left < math.inf
        self.left = 0 if len(block) < wanted else self.left - len(block)
        return block, cut
