"""Streams decoded completely: of a damaged stream, each viewer shows another part."""

from collections.abc import Sequence

from paraph.pdf.structure.objects import PdfStream, Unsafe, serialized
from paraph.pdf.structure.unpacking import LARGEST, unpacked

_OF_PICTURES = (b"DCT", b"JPX", b"CCITT", b"CCF", b"JBIG2", b"Crypt")
_LAST = {b"/ASCIIHexDecode": b">", b"/AHx": b">", b"/ASCII85Decode": b"~>", b"/A85": b"~>"}
_MOST_AT_ONCE = 8 << 20  # bytes; the contents of real pages rarely exceed 3 MB
_MOST_IN_ALL = 32 << 20
_IN_VAIN = 1 << 20  # charged for each stream that fails: it was unpacked up to its fault or limit


class ContentsDecoder:
    """Decodes the contents of one file within a budget of bytes. What follows, reading the operators, takes up to
    half a second per megabyte."""

    def __init__(self) -> None:
        self._left = _MOST_IN_ALL

    def decode(self, streams: Sequence[PdfStream]) -> list[bytes] | None:
        """Return the decoded ``streams``; ``None`` where one of them fails or the budget is exceeded."""
        limit, found = min(_MOST_AT_ONCE, self._left), list[bytes]()
        for stream in streams:
            text = decoded_completely(stream, limit)
            if text is None:
                self._left = max(self._left - _IN_VAIN, 0)
                return None
            found.append(text)
            limit, self._left = limit - len(text), self._left - len(text)
        return found


def decoded_completely(stream: PdfStream, limit: int = LARGEST) -> bytes | None:
    """Return the decoded data; ``None`` if it is truncated, damaged, over ``limit`` bytes, external or an image."""
    filters = stream.dictionary.get(b"/Filter")
    if b"/F" in stream.dictionary or not _ends(stream, filters):
        return None
    if filters is not None and any(name in serialized(filters) for name in _OF_PICTURES):
        return None
    try:
        return unpacked(stream, limit, complete=True)
    except Unsafe:
        return None


def _ends(stream: PdfStream, filters: object) -> bool:
    """Whether the data ends as its first filter requires. Unfiltered data may end anywhere."""
    if filters is None or filters == []:
        return True
    first = filters[0] if isinstance(filters, list) else filters
    return isinstance(first, bytes) and bool(stream.data) and stream.data.rstrip().endswith(_LAST.get(first, b""))
