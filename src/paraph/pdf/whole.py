"""Streams decoded to their very end: of a damaged one, each viewer shows another part."""

import zlib

import pikepdf

from paraph.pdf.objects import Stream, text_of

_LARGEST = 256 * 1024 * 1024
_FLATE = (b"/FlateDecode", [b"/FlateDecode"])
_NO_PARAMETERS: tuple[object, ...] = (None, [None], {}, [{}])
_OF_PICTURES = (b"DCT", b"JPX", b"CCITT", b"CCF", b"JBIG2", b"Crypt")
_LAST = {b"/ASCIIHexDecode": b">", b"/AHx": b">", b"/ASCII85Decode": b"~>", b"/A85": b"~>"}


def whole(stream: Stream) -> bytes | None:
    """The data, decoded. None where it is cut, damaged, too large, in another file, or encoded as a picture."""
    entries = stream.dictionary
    filters = entries.get(b"/Filter")
    if b"/F" in entries:
        return None
    if filters is None or filters == []:
        return stream.data
    if filters in _FLATE and entries.get(b"/DecodeParms") in _NO_PARAMETERS:
        return _inflated(stream.data)
    first = filters[0] if isinstance(filters, list) else filters
    ends = isinstance(first, bytes) and stream.data.rstrip().endswith(_LAST.get(first, b""))
    return _decoded_by_qpdf(stream) if ends and stream.data else None


def _inflated(data: bytes) -> bytes | None:
    inflater = zlib.decompressobj()
    try:
        result = inflater.decompress(data, _LARGEST)
    except zlib.error:
        return None
    return result if inflater.eof else None


def _decoded_by_qpdf(stream: Stream) -> bytes | None:
    if any(name in text_of(stream.dictionary[b"/Filter"]) for name in _OF_PICTURES):
        return None
    try:
        with pikepdf.new() as scratch:
            copy = pikepdf.Stream(scratch, stream.data)
            for key in (b"/Filter", b"/DecodeParms"):
                if key in stream.dictionary:
                    copy[key.decode("latin-1")] = pikepdf.Object.parse(text_of(stream.dictionary[key]))
            result = copy.read_bytes()
            return result if not scratch.get_warnings() and len(result) <= _LARGEST else None
    except (pikepdf.PikepdfError, ValueError, RuntimeError):
        return None
