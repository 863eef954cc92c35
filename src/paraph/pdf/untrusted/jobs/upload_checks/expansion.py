"""Bounds on what the streams of a file unpack to, enforced without unpacking any stream as a whole."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pikepdf

from paraph.pdf.refusal import too_complex
from paraph.pdf.structure.objects import Unsafe

_LARGEST = 128 << 20  # bytes that a stream may unpack to
_LARGEST_IMAGE = 768 << 20  # an A0 scan in colour has 400 MB
_LARGEST_FILE = 512 << 20  # all streams of a file but images; real files rarely exceed 3 MB
_RATIO = 1032  # the highest ratio of one Flate pass; LZW stays below 1,400
_PIECE = 1 << 20
_FLATE = {b"/FlateDecode", b"/Fl"}
_PACKING = {*_FLATE, b"/LZWDecode", b"/LZW", b"/RunLengthDecode", b"/RL"}
_Size = Callable[[int], int]
"""Returns to how many bytes a stream unpacks; beyond the given limit, any larger number."""


class Expansion:
    """The total of one file. Only streams that are long enough to exceed a bound are unpacked."""

    def __init__(self) -> None:
        self._most = 0  # upper bound for all streams but images, in bytes
        self._waiting: list[tuple[int, _Size]] = []

    def check(self, stream: Any, content: Any) -> None:
        """Count a stream whose stored data is ``content``. Raises PdfRefused ``too_complex`` if the stream, or all
        so far, unpack to more than any document needs."""
        filters = stream.get("/Filter")
        several = filters if isinstance(filters, pikepdf.Array) else [filters]
        names = [name.unparse() for name in several if isinstance(name, pikepdf.Name)]  # str() needs UTF-8
        image = stream.get("/Subtype") == pikepdf.Name.Image
        size: _Size = partial(_unpacked, stream)  # bounded by the memory limit of the sandbox
        if _FLATE.issuperset(names):
            size = partial(_inflated_size, names, content)
        self._count(names, len(content), size, image=image)

    def check_by_zlib(self, filters: Sequence[bytes], content: Any, *, image: bool) -> None:
        """Count a stream as :meth:`check` does. Raises Unsafe if zlib alone cannot tell its size."""
        size = partial(_inflated_size, filters, content) if _FLATE.issuperset(filters) else _unknown
        self._count(filters, len(content), size, image=image)

    def _count(self, filters: Sequence[bytes], length: int, size: _Size, *, image: bool) -> None:
        limit, most = _LARGEST_IMAGE if image else _LARGEST, most_unpacked(filters, length)
        if most > max(limit, length):
            most = size(limit)
            if most > limit:
                raise too_complex()
        elif most > length and not image:
            self._waiting.append((most, size))
        if not image:
            self._most += most
        if self._most > _LARGEST_FILE:
            self._settle()

    def _settle(self) -> None:
        for most, size in self._waiting:
            self._most += size(_LARGEST) - most
        self._waiting.clear()
        if self._most > _LARGEST_FILE:
            raise too_complex()


def most_unpacked(filters: Sequence[Any], length: int) -> int:
    """Return an upper bound for what ``length`` bytes unpack to."""
    return int(length * _RATIO ** sum(type(name) is bytes and name in _PACKING for name in filters))


def _inflated_size(filters: Sequence[bytes], content: Any, limit: int) -> int:
    """Return to how much Flate data unpacks; above ``limit``, any larger number."""
    pieces: Iterator[bytes] = iter([bytes(content)])
    for _ in filters:
        pieces = _inflated(pieces, limit)
    return _length(pieces, limit)


def _inflated(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Yield the unpacked data piece by piece, up to the first error. Raises PdfRefused beyond the limit."""
    unpacker, length = zlib.decompressobj(), 0
    for packed in pieces:
        left = packed
        while left and not unpacker.eof:
            try:
                piece = unpacker.decompress(left, _PIECE)
            except zlib.error:
                return
            length += len(piece)
            if length > limit + _PIECE:
                raise too_complex()
            yield piece
            left = unpacker.unconsumed_tail


def _length(pieces: Iterable[bytes], limit: int) -> int:
    length = 0
    for piece in pieces:
        length += len(piece)
        if length > limit:
            break
    return length


def _unpacked(stream: Any, limit: int) -> int:
    del limit
    try:
        return len(stream.read_bytes())
    except pikepdf.PikepdfError:
        return 0


def _unknown(limit: int) -> int:
    del limit
    raise Unsafe("only qpdf can tell what a stream unpacks to")
