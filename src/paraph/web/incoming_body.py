"""The body of a request, read as it comes. Who sends it too slowly is cut off by :mod:`paraph.web.slow_bodies`."""

import math
import time
from io import RawIOBase
from typing import Protocol

from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.web.slow_bodies import waiting

PIECE = 64 * 1024  # bytes: what is asked of the server's stream at a time, of what is only let in
_AT_ONCE = 256 * 1024  # and of what is read; each time, this thread and the server's wake each other


class Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class IncomingBody(RawIOBase):
    """``length`` is the declared one, None for a body in chunks. ``cut``: it ended before that length."""

    def __init__(self, stream: Stream, length: int | None) -> None:
        self._stream = stream
        self._length = length
        self._received = 0
        self._ended = False
        self.untouched = True

    @property
    def left(self) -> float:
        """Bytes that may still come: infinitely many of a body in chunks."""
        if self._ended:
            return 0
        return math.inf if self._length is None else self._length - self._received

    @property
    def cut(self) -> bool:
        return self._ended and self._length is not None and self._received < self._length

    def read(self, size: int | None = -1, /) -> bytes:
        """So many bytes, fewer only at the end. Raises ``DomainError("request_timeout", …)`` where the body ends
        before its declared length: the client was too slow, or has gone and does not hear it."""
        wanted = self.left if size is None or size < 0 else min(size, self.left)
        blocks = []
        while wanted > 0 and not self._ended:
            block = self._piece(int(min(_AT_ONCE, wanted)))
            blocks.append(block)
            wanted -= len(block)
        if self.cut:
            raise DomainError("request_timeout", _("The body of the request came too slowly."))
        return b"".join(blocks)

    def drain(self, most: int, seconds: float) -> None:
        """Reads on and forgets, as far and about as long as that."""
        answered, drained = time.monotonic(), 0
        while self.left and drained < most and time.monotonic() < answered + seconds:
            drained += len(self._piece(PIECE, answered))

    def _piece(self, size: int, answered: float = 0) -> bytes:
        self.untouched = False
        with waiting(answered):
            block = self._stream.read(size)
        self._received += len(block)
        self._ended = len(block) < size
        return block
