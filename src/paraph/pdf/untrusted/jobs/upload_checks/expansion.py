"""Bounds on what streams, and page contents as often as drawn, unpack to, enforced without unpacking any as a whole."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import pikepdf

from paraph.pdf.refusal import too_complex
from paraph.pdf.structure.objects import PdfStream, Ref, Unsafe
from paraph.pdf.structure.pages import PageNode
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.unpacking import TooLarge, unpacked

_LARGEST = 128 << 20  # bytes that a stream may unpack to
_LARGEST_IMAGE = 768 << 20  # an A0 scan in colour has 400 MB
_LARGEST_FILE = 512 << 20  # all streams of a file but images; real files rarely exceed 3 MB
_RATIO = 1032  # the highest ratio of one Flate pass; LZW stays below 1,400
_PIECE = 1 << 20
_FLATE = {b"/FlateDecode", b"/Fl"}
_PACKING = {*_FLATE, b"/LZWDecode", b"/LZW", b"/RunLengthDecode", b"/RL"}
_Size = Callable[[int], int]
"""A function that returns how many bytes a stream unpacks to; beyond the given limit, any larger number."""
_LARGEST_PAGE = 64 << 20  # bytes of the contents of one page; real pages rarely exceed 3 MB
_LARGEST_REPEATED = 512 << 20  # bytes drawn repeatedly, by several pages or by one


class Expansion:
    """The unpacked size of one file. Only streams that are long enough to exceed a bound are unpacked."""

    def __init__(self) -> None:
        self._most = 0  # upper bound for all streams but images, in bytes
        self._waiting: list[tuple[int, _Size]] = []

    def check(self, stream: Any, content: Any) -> None:
        """Count a stream whose stored data is ``content``. Raise PdfRefused ``too_complex`` if the stream, or all
        so far, unpack to more than any document needs."""
        filters = stream.get("/Filter")
        several = filters if isinstance(filters, pikepdf.Array) else [filters]
        names = [name.unparse() for name in several if isinstance(name, pikepdf.Name)]  # str() needs UTF-8
        size = partial(_inflated_size, names, content) if _FLATE.issuperset(names) else partial(_unpacked_size, stream)
        self._count(names, len(content), size, image=stream.get("/Subtype") == pikepdf.Name.Image)

    def check_by_zlib(self, filters: Sequence[bytes], content: Any, *, image: bool) -> None:
        """Count a stream as :meth:`check` does. Raise Unsafe if zlib alone cannot tell its size."""
        size = partial(_inflated_size, filters, content) if _FLATE.issuperset(filters) else _unknown_size
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
            for estimate, exactly in self._waiting:
                self._most += exactly(_LARGEST) - estimate
            self._waiting.clear()
        if self._most > _LARGEST_FILE:
            raise too_complex()


def most_unpacked(filters: Sequence[Any], length: int) -> int:
    """Return an upper bound for what ``length`` bytes unpack to."""
    return int(length * _RATIO ** sum(type(name) is bytes and name in _PACKING for name in filters))


def _inflated_size(filters: Sequence[bytes], content: Any, limit: int) -> int:
    """Return how many bytes Flate data unpacks to; above ``limit``, any larger number."""
    pieces: Iterator[bytes] = iter([bytes(content)])
    for _ in filters:
        pieces = _inflated(pieces, limit)
    length = 0
    for piece in pieces:
        length += len(piece)
        if length > limit:
            break
    return length


def _inflated(pieces: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Yield the unpacked data piece by piece, up to the first error. Raise PdfRefused beyond the limit."""
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


def _unpacked_size(stream: Any, limit: int) -> int:
    """Return the whole size; the memory that this takes is bounded by the sandbox."""
    del limit
    try:
        return len(stream.read_bytes())
    except pikepdf.PikepdfError:
        return 0


def _unknown_size(limit: int) -> int:
    raise Unsafe(f"only qpdf can tell whether a stream unpacks to more than {limit} bytes")


def check_contents(reader: PdfReader, pages: Iterable[PageNode]) -> None:
    """Raise PdfRefused ``too_complex`` if the contents of a page, or repeated contents, unpack to more than any
    document needs. Contents drawn once are counted with the file's other streams, and none is unpacked where the
    lengths of all keep within the bounds."""
    drawn = [_contents(reader, page) for page in pages]
    if not _are_bounded(drawn, partial(_estimated, reader)) and not _are_bounded(drawn, partial(_measured, reader)):
        raise too_complex()


def _contents(reader: PdfReader, page: PageNode) -> list[Ref]:
    value = page.dictionary.get(b"/Contents")
    resolved = reader.resolve(value)
    return [item for item in (resolved if isinstance(resolved, list) else [value]) if type(item) is Ref]


def _are_bounded(drawn: Iterable[Sequence[Ref]], size: Callable[[Ref], int]) -> bool:
    sizes, repeated = dict[Ref, int](), 0
    for refs in drawn:
        for ref in refs:
            repeated += sizes.get(ref, 0)
            if ref not in sizes:
                sizes[ref] = size(ref)
        if sum(map(sizes.__getitem__, refs)) > _LARGEST_PAGE or repeated > _LARGEST_REPEATED:
            return False
    return True


def _estimated(reader: PdfReader, ref: Ref) -> int:
    if not isinstance(stream := reader.resolve(ref), PdfStream):
        return 0
    filters = stream.dictionary.get(b"/Filter")
    return most_unpacked(filters if isinstance(filters, list) else [filters], len(stream.data))


def _measured(reader: PdfReader, ref: Ref) -> int:
    stream = reader.resolve(ref)
    try:
        return len(unpacked(stream, _LARGEST_PAGE)) if isinstance(stream, PdfStream) else 0
    except TooLarge:
        raise too_complex() from None
    except Unsafe:  # no reader here decodes it
        return 0
