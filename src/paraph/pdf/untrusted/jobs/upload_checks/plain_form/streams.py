"""The data of streams in a plain file (ISO 32000-1, 7.3.8 and 7.4)."""

import re
import zlib

from paraph.pdf.structure.objects import Dictionary, PdfStream, Unsafe
from paraph.pdf.structure.unpacking import unpacked
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.values import (
    Kinds,
    NotPlain,
    Resolve,
    check_entries,
    is_boolean,
    is_integer,
    is_natural,
    is_stream,
    one_of,
)

ABBREVIATED = frozenset(
    {b"/F", b"/FFilter", b"/FDecodeParms", b"/DP", b"/IM", b"/CS", b"/BPC", b"/D", b"/I", b"/W", b"/H"}
)
"""Of inline images, which some readers take for others' entries, and of data in another file."""
_PACKING = frozenset({b"/FlateDecode", b"/LZWDecode", b"/ASCIIHexDecode", b"/ASCII85Decode", b"/RunLengthDecode"})
_OF_IMAGES = frozenset({b"/DCTDecode", b"/JPXDecode", b"/CCITTFaxDecode", b"/JBIG2Decode"})
_COMMENT = re.compile(rb"%[^\r\n]*+")
_LARGEST = 128 << 20  # bytes that are read of any stream
_PARAMETERS: Kinds = {
    **dict.fromkeys((b"/Predictor", b"/Colors", b"/BitsPerComponent", b"/Columns", b"/Rows"), is_natural),
    **dict.fromkeys((b"/EarlyChange", b"/ColorTransform"), one_of(0, 1)),
    **dict.fromkeys((b"/EndOfLine", b"/EncodedByteAlign", b"/EndOfBlock", b"/BlackIs1"), is_boolean),
    b"/K": is_integer,
    b"/DamagedRowsBeforeError": is_natural,
    b"/JBIG2Globals": is_stream,
}


def check_stream(stream: PdfStream, kinds: Kinds, what: str, resolve: Resolve, *, image: bool = False) -> list[bytes]:
    """Check dictionary and filters, and return the names of these. Raise NotPlain."""
    entries = stream.dictionary
    if not ABBREVIATED.isdisjoint(entries):
        raise NotPlain(f"{what} has entries of an inline image")
    check_entries(what, entries, kinds, resolve)
    filters, parameters = entries.get(b"/Filter", []), resolve(entries.get(b"/DecodeParms"))
    filters = filters if type(filters) is list else [filters]
    if type(parameters) is not list:
        parameters = [] if parameters is None else [parameters]
    if parameters and len(parameters) != len(filters):
        raise NotPlain(f"{what} has parameters for other filters")
    last = filters[-1:] if image else []
    packing = filters[:-1] if last and last[0] in _OF_IMAGES else filters
    if not all(type(each) is bytes and each in _PACKING for each in packing):
        raise NotPlain(f"{what} has an odd filter")
    for each in map(resolve, parameters):
        if type(each) is dict:
            check_entries(what, each, _PARAMETERS, resolve)
        elif each is not None:
            raise NotPlain(f"{what} has odd parameters")
    return filters


def is_blank(stream: PdfStream) -> bool:
    """Return whether contents are nothing but comments, as the appearance of an unsigned field may be."""
    return not _COMMENT.sub(b"", unpacked(stream)).strip()


class Beginning:
    """The decoded data of a stream, read from its beginning and unpacked no further than is asked for. ``outer``: how
    many of its filters are undone, all of them by default. Damaged data end where the damage is."""

    _PIECE = 1 << 12

    def __init__(self, stream: PdfStream, outer: int | None = None) -> None:
        filters, parameters = stream.dictionary.get(b"/Filter", []), stream.dictionary.get(b"/DecodeParms")
        filters = filters if type(filters) is list else [filters]
        undone = filters[:outer]
        parameters = parameters[: len(undone)] if type(parameters) is list else parameters if outer is None else None
        self._found, self._left, self._inflater = b"", b"", zlib.decompressobj()
        if not undone:
            self._found = stream.data
        elif undone == [b"/FlateDecode"] and parameters in (None, [None]):
            self._left = stream.data
        else:
            self._found = self._unpacked({b"/Filter": undone, b"/DecodeParms": parameters}, stream.data)

    def read(self, start: int, length: int) -> bytes:
        """Return at most so many bytes from ``start`` on."""
        end = min(start + length, _LARGEST)
        while self._left and len(self._found) < end:
            try:
                self._found += self._inflater.decompress(self._left, max(end - len(self._found), self._PIECE))
            except zlib.error:
                self._left = b""
                break
            self._left = self._inflater.unconsumed_tail
        return self._found[start:end]

    def length(self, most: int) -> int:
        """Return how many bytes there are, counted up to ``most`` and a few more."""
        return len(self.read(0, most + 1))

    @staticmethod
    def _unpacked(entries: Dictionary, data: bytes) -> bytes:
        try:
            return unpacked(PdfStream(entries, data), _LARGEST)
        except Unsafe:
            return b""
