"""The body of a request, read while it comes. A client that sends it too slowly is cut off by
:mod:`paraph.server.slow_bodies`."""

import math
import time
from io import RawIOBase
from typing import Any, Protocol

from django.core.handlers.wsgi import LimitedStream
from django.http import HttpRequest
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.server.slow_bodies import waiting


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


PIECE = 64 * 1024  # bytes that are read at a time of a body that is thrown away
_BLOCK = 256 * 1024  # bytes that are read at a time of any other: each read wakes this thread and one of the server


class Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def incoming_body(environ: dict[str, Any]) -> "IncomingBody | None":
    """Return None for a request without a body."""
    length = environ.get("CONTENT_LENGTH") or ""
    if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        return IncomingBody(environ["wsgi.input"], None)
    if length.isascii() and length.isdigit() and int(length):
        return IncomingBody(environ["wsgi.input"], int(length))
    return None


class IncomingBody(RawIOBase):
    """``length``: the declared one, None for a body in chunks. ``untouched``: nothing has been read yet."""

    def __init__(self, stream: Stream, length: int | None) -> None:
        self._stream = stream
        self._length = length
        self._received = 0
        self._ended = False
        self.untouched = True

    @property
    def left(self) -> float:
        """Bytes that may still come; infinitely many for a body in chunks."""
        if self._ended:
            return 0
        return math.inf if self._length is None else self._length - self._received

    @property
    def cut(self) -> bool:
        """Whether it ended before its declared length."""
        return self._ended and self._length is not None and self._received < self._length

    def read(self, size: int | None = -1, /) -> bytes:
        """Return as many bytes as asked for, fewer only at the end. Raise ``DomainError("request_timeout", …)`` for a
        body that is cut: its client was too slow, or has gone and will not read the refusal anyway."""
        wanted = self.left if size is None or size < 0 else min(size, self.left)
        blocks = []
        while wanted > 0 and not self._ended:
            block = self._read(int(min(_BLOCK, wanted)))
            blocks.append(block)
            wanted -= len(block)
        if self.cut:
            raise DomainError("request_timeout", _("The body of the request arrived too slowly."))
        return b"".join(blocks)

    def drain(self, most: int, seconds: float) -> None:
        """Read and throw away, until the end, until ``most`` bytes, or for about so many seconds. The response has
        been sent by now."""
        answered, drained = time.monotonic(), 0
        while self.left and drained < most and time.monotonic() < answered + seconds:
            drained += len(self._read(PIECE, answered))

    def _read(self, size: int, answered: float = 0) -> bytes:
        self.untouched = False
        with waiting(answered):
            block = self._stream.read(size)
        self._received += len(block)
        self._ended = len(block) < size
        return block
