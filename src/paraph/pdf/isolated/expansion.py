"""What a stream would unpack to, without unpacking it as a whole."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import pikepdf

from paraph.pdf.refusal import too_complex

_LARGEST = 128 << 20  # bytes that a stream may unpack to
_LARGEST_IMAGE = 768 << 20  # an A0 scan in colour has 400 MB
_RATIO = 1032  # the most that one pass of Flate expands; LZW stays below 1,400
_PIECE = 1 << 20


def check_expansion(stream: Any, content: Any) -> None:
    """Raises PdfRefused ``too_complex`` for a stream that unpacks to more than a document may need. ``content``: its
    data as stored."""
    filters = stream.get("/Filter")
    several = filters if isinstance(filters, pikepdf.Array) else [filters]
    names = [name.unparse() for name in several if isinstance(name, pikepdf.Name)]  # str() wants them in UTF-8
    packed = [name for name in names if name in {b"/FlateDecode", b"/Fl", b"/LZWDecode", b"/LZW"}]
    if not packed:
        return
    limit = _LARGEST_IMAGE if stream.get("/Subtype") == pikepdf.Name.Image else _LARGEST
    if len(content) * _RATIO ** len(packed) <= limit:
        return
    if all(name in {b"/FlateDecode", b"/Fl"} for name in names):
        pieces: Iterator[bytes] = iter([bytes(content)])
        for _ in names:
            pieces = _inflated(pieces)
        size = _length(pieces, limit)
    else:
        size = _unpacked(stream)  # within the memory of the sandbox
    if size > limit:
        raise too_complex()


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
