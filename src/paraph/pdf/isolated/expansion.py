"""What a stream would unpack to, without unpacking it as a whole."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pikepdf

from paraph.pdf.refusal import too_complex

_LARGEST = 128 << 20  # bytes that a stream may unpack to
_LARGEST_IMAGE = 768 << 20  # an A0 scan in colour has 400 MB
_RATIO = 1032  # the most that one pass of Flate expands; LZW stays below 1,400
HARMLESS = _LARGEST // _RATIO
"""Bytes that cannot unpack to too much in one pass, whatever they are."""
_PIECE = 1 << 20
_FLATE = {b"/FlateDecode", b"/Fl"}
_PACKING = {*_FLATE, b"/LZWDecode", b"/LZW"}


def check_expansion(stream: Any, content: Any) -> None:
    """Raises PdfRefused ``too_complex`` for a stream that unpacks to more than a document may need. ``content``: its
    data as stored."""
    filters = stream.get("/Filter")
    several = filters if isinstance(filters, pikepdf.Array) else [filters]
    names = [name.unparse() for name in several if isinstance(name, pikepdf.Name)]  # str() wants them in UTF-8
    image = stream.get("/Subtype") == pikepdf.Name.Image
    if not check_by_length(names, len(content), image=image) and not check_inflated(names, content, image=image):
        _check(_unpacked(stream), image)  # within the memory of the sandbox


def check_by_length(filters: Sequence[bytes], length: int, *, image: bool) -> bool:
    """Whether so few bytes cannot unpack to too much, whatever they are."""
    passes = sum(name in _PACKING for name in filters)
    return not passes or length * _RATIO**passes <= _limit(image)


def check_inflated(filters: Sequence[bytes], content: Any, *, image: bool) -> bool:
    """The same by unpacking; False where that takes more than zlib. Raises PdfRefused ``too_complex``."""
    if not _FLATE.issuperset(filters):
        return False
    pieces: Iterator[bytes] = iter([bytes(content)])
    for _ in filters:
        pieces = _inflated(pieces)
    _check(_length(pieces, _limit(image)), image)
    return True


def _check(size: int, image: bool) -> None:
    if size > _limit(image):
        raise too_complex()


def _limit(image: bool) -> int:
    return _LARGEST_IMAGE if image else _LARGEST


def _inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Unpacked piece by piece; what is broken ends it, as readers do."""
    unpacker = zlib.decompressobj()
    for packed in pieces:
        left = packed
        while left and not unpacker.eof:
            try:
                yield unpacker.decompress(left, _PIECE)
            except zlib.error:
                return
            left = unpacker.unconsumed_tail


def _length(pieces: Iterable[bytes], limit: int) -> int:
    length = 0
    for piece in pieces:
        length += len(piece)
        if length > limit:
            break
    return length


def _unpacked(stream: Any) -> int:
    try:
        return len(stream.read_bytes())
    except pikepdf.PikepdfError:
        return 0
