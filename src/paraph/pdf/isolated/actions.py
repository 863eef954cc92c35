"""One walk over every object of a file: what would run when it is opened, and what would burst when it is read."""

import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import pikepdf

from paraph.pdf.refusal import too_complex

# qpdf writes names in one form, so that /J#61vaScript is found as well
_SCRIPT = re.compile(rb"/S /JavaScript\b|/S /Rendition\b(?=.*/JS\b)")
_LAUNCH = re.compile(rb"/S /Launch\b")

_LARGEST = 128 << 20  # bytes that a stream may unpack to
_LARGEST_IMAGE = 768 << 20  # an A0 scan in colour has 400 MB
_RATIO = 1032  # the most that one pass of Flate expands; LZW stays below 1,400
_PIECE = 1 << 20


def count_actions(document: pikepdf.Pdf) -> dict[str, int]:
    """``{"scripts": number, "launch_actions": number}``. Raises PdfRefused ``too_complex`` for a bomb."""
    scripts = launches = 0
    for item in document.objects:
        if isinstance(item, pikepdf.Stream):
            _check_expansion(item)
            text = item.stream_dict.unparse(resolved=True)
        elif isinstance(item, pikepdf.Dictionary | pikepdf.Array):
            text = item.unparse(resolved=True)
        else:
            continue
        scripts += len(_SCRIPT.findall(text))
        launches += len(_LAUNCH.findall(text))
    return {"scripts": scripts, "launch_actions": launches}


def _check_expansion(stream: Any) -> None:
    filters = stream.get("/Filter")
    names = [str(name) for name in (filters if isinstance(filters, pikepdf.Array) else [filters]) if name is not None]
    packed = [name for name in names if name in {"/FlateDecode", "/Fl", "/LZWDecode", "/LZW"}]
    if not packed:
        return
    limit = _LARGEST_IMAGE if stream.get("/Subtype") == pikepdf.Name.Image else _LARGEST
    content = stream.get_raw_stream_buffer()
    if len(content) * _RATIO ** len(packed) <= limit:
        return
    if all(name in {"/FlateDecode", "/Fl"} for name in names):
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
    except pikepdf.PdfError:
        return 0
