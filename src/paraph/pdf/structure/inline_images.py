"""Where the data of an inline image ends (ISO 32000-1, 8.9.7): nothing says so but the image itself."""

import re
import zlib
from typing import Any

from paraph.pdf.structure.objects import CONFUSED, Dictionary, Unsafe, parse

_FULL = {
    b"/BPC": b"/BitsPerComponent",
    b"/CS": b"/ColorSpace",
    b"/D": b"/Decode",
    b"/DP": b"/DecodeParms",
    b"/F": b"/Filter",
    b"/H": b"/Height",
    b"/IM": b"/ImageMask",
    b"/I": b"/Interpolate",
    b"/W": b"/Width",
}
_ENTRIES = frozenset({*_FULL.values(), b"/Intent"})
_COMPONENTS = {
    **dict.fromkeys((b"/G", b"/DeviceGray", b"/I", b"/Indexed"), 1),
    **dict.fromkeys((b"/RGB", b"/DeviceRGB"), 3),
    **dict.fromkeys((b"/CMYK", b"/DeviceCMYK"), 4),
}
_FLATE, _JPEG, _RUNS = (b"/Fl", b"/FlateDecode"), (b"/DCT", b"/DCTDecode"), (b"/RL", b"/RunLengthDecode")
_ENDED = {b"/AHx": b">", b"/ASCIIHexDecode": b">", b"/A85": b"~>", b"/ASCII85Decode": b"~>"}
_SEGMENT = re.compile(rb"\xff([\xc0-\xcf\xda-\xef\xfe])")  # with a length (ISO/IEC 10918-1, annex B)
_OTHERS = (b"/CCF", b"/CCITTFaxDecode", b"/LZW", b"/LZWDecode")  # whose data end where a decoder says so
_SCAN = b"\xda"
_END_OF_RUNS = 128
_MOST = 4 << 20  # bytes of a picture; readers refuse larger ones in contents
_END = re.compile(rb"[\x00\t\n\x0c\r ]*+EI(?=[\x00\t\n\x0c\r ]|\Z)")
_NOTHING_MORE = re.compile(rb"[\x00\t\n\x0c\r Q]*+")
_MAYBE = re.compile(rb"EI(?=[\x00\t\n\x0c\r ]|\Z)")


def end_of_image(head: bytes, contents: bytes, start: int) -> int | None:
    """Return the place behind ``EI`` of an image whose data begins at ``start``; ``head`` reaches from ``BI`` to
    ``ID``. ``None`` where readers may see another end: some count the data, some search it for ``EI``."""
    try:
        entries, _ = parse(b"<<" + head[2 : head.rindex(b"ID")] + b">>", 0)
        end = _data_end(_with_full_names(entries), contents, start)
    except (Unsafe, zlib.error, *CONFUSED):
        return None
    found = _END.match(contents, end)
    first = _MAYBE.search(contents, start)
    return found.end() if found and first and first.end() == found.end() else None


def _with_full_names(entries: Dictionary) -> Dictionary:
    full = {_FULL.get(key, key): value for key, value in entries.items()}
    if len(full) != len(entries) or not full.keys() <= _ENTRIES:
        raise Unsafe("an inline image has an entry twice, or an unknown one")
    return full


def _data_end(entries: Dictionary, contents: bytes, start: int) -> int:
    filters = entries.get(b"/Filter")
    first: Any = filters[0] if type(filters) is list and filters else filters
    if first in (None, []):
        return start + _size(entries)
    if first in _FLATE:
        inflater = zlib.decompressobj()
        inflater.decompress(contents[start:], _MOST)
        if not inflater.eof:
            raise Unsafe("the data of an inline image does not end")
        return len(contents) - len(inflater.unused_data)
    if first in _ENDED:
        return contents.index(_ENDED[first], start) + len(_ENDED[first])
    if first in _JPEG:
        return _jpeg_end(contents, start)
    if first in _RUNS:
        return _runs_end(contents, start)
    last = _MAYBE.search(contents, start)
    if first not in _OTHERS or last is None or not _NOTHING_MORE.fullmatch(contents, last.end()):
        raise Unsafe("the data of an inline image may end anywhere")
    return last.start()


def _jpeg_end(contents: bytes, start: int) -> int:
    if contents[start : start + 2] != b"\xff\xd8":
        raise Unsafe("an inline image is no JPEG")
    place = start + 2
    while segment := _SEGMENT.match(contents, place):
        place += 2 + int.from_bytes(contents[place + 2 : place + 4], "big")
        if segment[1] == _SCAN:
            break
    return contents.index(b"\xff\xd9", place) + 2


def _runs_end(contents: bytes, start: int) -> int:
    place = start
    while contents[place] != _END_OF_RUNS:
        place += contents[place] + 2 if contents[place] < _END_OF_RUNS else 2
    return place + 1


def _size(entries: Dictionary) -> int:
    width, height, space = entries[b"/Width"], entries[b"/Height"], entries.get(b"/ColorSpace", b"")
    if entries.get(b"/ImageMask") == b"true":
        bits = 1
    else:
        bits = entries[b"/BitsPerComponent"] * _COMPONENTS[space[0] if type(space) is list else space]
    size = int((width * bits + 7) // 8 * height)
    if not 0 <= size <= _MOST:
        raise Unsafe("an inline image is too large")
    return size
