"""Streams decoded to their very end: of a damaged one, each viewer shows another part."""

from collections.abc import Sequence

from paraph.pdf.structure.objects import PdfStream, Unsafe, serialized
from paraph.pdf.structure.unpacking import LARGEST, unpacked

_OF_PICTURES = (b"DCT", b"JPX", b"CCITT", b"CCF", b"JBIG2", b"Crypt")
_LAST = {b"/ASCIIHexDecode": b">", b"/AHx": b">", b"/ASCII85Decode": b"~>", b"/A85": b"~>"}
_MOST_AT_ONCE = 8 << 20  # bytes; the contents of real pages rarely exceed 3 MB
_MOST_IN_ALL = 32 << 20
_IN_VAIN = 1 << 20  # charged for each stream that fails: it was unpacked up to its fault or limit


class ContentsDecoder:
    """Looks into contents of one file, as far as that takes seconds: a megabyte takes up to half of one."""

    def __init__(self) -> None:
        self._left = _MOST_IN_ALL

    def decode(self, streams: Sequence[PdfStream]) -> list[bytes] | None:
        """The contents that the streams are together, decoded. None where one of them is nothing that :func:`whole`
        decodes, and where there is more than is looked into."""
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
    """The data, decoded. None where it is cut, damaged, larger than ``most`` bytes, in another file, or encoded as a
    picture."""
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
    """As its first filter wants it to. Where there is none, anything is an end."""
    if filters is None or filters == []:
        return True
    first = filters[0] if isinstance(filters, list) else filters
    return isinstance(first, bytes) and bool(stream.data) and stream.data.rstrip().endswith(_LAST.get(first, b""))
