"""Page contents, decoded completely, and their operators with operands as a regular expression (ISO 32000-1, annex A).

Each viewer shows a different part of a damaged stream. Every quantifier is possessive, so matching never backtracks and
takes linear time on any contents. Character classes list what they contain: the engine matches those twice as fast as
negated ones. Only an inline image itself tells where its data ends (8.9.7).
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from paraph.pdf.structure.objects import CONFUSED, Dictionary, PdfStream, Unsafe, parse, serialized
from paraph.pdf.structure.unpacking import LARGEST, unpacked

_FULL_NAMES = {
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
_ENTRIES = frozenset({*_FULL_NAMES.values(), b"/Intent"})
_COMPONENTS = {
    **dict.fromkeys((b"/G", b"/DeviceGray", b"/I", b"/Indexed"), 1),
    **dict.fromkeys((b"/RGB", b"/DeviceRGB"), 3),
    **dict.fromkeys((b"/CMYK", b"/DeviceCMYK"), 4),
}
_FLATE, _JPEG, _RUNS = (b"/Fl", b"/FlateDecode"), (b"/DCT", b"/DCTDecode"), (b"/RL", b"/RunLengthDecode")
_ENDED = {b"/AHx": b">", b"/ASCIIHexDecode": b">", b"/A85": b"~>", b"/ASCII85Decode": b"~>"}
_SEGMENT = re.compile(rb"\xff([\xc0-\xcf\xda-\xef\xfe])")  # with a length (ISO/IEC 10918-1, annex B)
_OTHERS = (b"/CCF", b"/CCITTFaxDecode", b"/LZW", b"/LZWDecode")  # only a decoder can tell where their data ends
_SCAN = b"\xda"
_END_OF_RUNS = 128
_MOST = 4 << 20  # bytes of a picture; readers refuse larger ones in contents
_END_OF_IMAGE = re.compile(rb"[\x00\t\n\x0c\r ]*+EI(?=[\x00\t\n\x0c\r ]|\Z)")
_NOTHING_MORE = re.compile(rb"[\x00\t\n\x0c\r Q]*+")
_MAYBE = re.compile(rb"EI(?=[\x00\t\n\x0c\r ]|\Z)")
_OF_PICTURES = (b"DCT", b"JPX", b"CCITT", b"CCF", b"JBIG2", b"Crypt")
_MOST_AT_ONCE = 8 << 20  # bytes; the contents of real pages rarely exceed 3 MB
_MOST_IN_ALL = 32 << 20
_IN_VAIN = 1 << 20  # charged for each stream that fails: it was unpacked up to its fault or limit
SPACES = b"\x00\t\n\x0c\r "
PAINTING = frozenset({b"S", b"s", b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*", b"n"})
_SPACE = rb"[\x00\t\n\x0c\r ]"
_REGULAR = rb"[!-$&'*-.0-;=?-Z^-z|~\x80-\xff]"
_OF_NAMES = rb"[!-$&'*-.0-;=?-Z^-z|~]"  # PDFium takes two of the others for white space
_ANY = _SPACE + rb"*+(?:%[^\r\n]*+[\r\n]" + _SPACE + rb"*+)*+"
_SOME = _SPACE + rb"++(?:%[^\r\n]*+[\r\n]" + _SPACE + rb"*+)*+"
_ENDS = rb"(?!" + _REGULAR + rb")"
_END = rb"(?:" + _SPACE + rb"++|" + _ENDS + rb")"
_DIGITS = rb"[-+]?+(?:[0-9]{1,7}+(?:\.[0-9]{0,30}+)?+|\.[0-9]{1,30}+)"
_NUMBER = _DIGITS + _SOME
_NAME = rb"/" + _OF_NAMES + rb"{1,127}+" + _ENDS + _ANY
_HEXADECIMAL = rb"<[0-9A-Fa-f\x00\t\n\x0c\r ]*+>"
_MALFORMED = b"?"
PATH_BEGINS = re.compile(
    rb"[-+.0-9\x00\t\n\x0c\r ]*+(?:(m|re|W\*?+)" + _ENDS + rb")?+(?:%[^\r\n]*+|[-+.0-9\x00\t\n\x0c\r mlcvyhreW*])*+"
)
"""Match a part of a path; group 1 is set where the part begins the path, or clips by the next one."""


def end_of_image(head: bytes, contents: bytes, start: int) -> int | None:
    """Return the place after ``EI`` of an image whose data begins at ``start``; ``head`` reaches from ``BI`` to
    ``ID``. ``None`` where readers may see another end: some count the data, some search it for ``EI``."""
    try:
        entries, _ = parse(b"<<" + head[2 : head.rindex(b"ID")] + b">>", 0)
        end = _data_end(_with_full_names(entries), contents, start)
    except (Unsafe, zlib.error, *CONFUSED):
        return None
    found = _END_OF_IMAGE.match(contents, end)
    first = _MAYBE.search(contents, start)
    return found.end() if found and first and first.end() == found.end() else None


def _with_full_names(entries: Dictionary) -> Dictionary:
    full = {_FULL_NAMES.get(key, key): value for key, value in entries.items()}
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


class ContentsDecoder:
    """Decode the contents of one file within a budget of bytes. Reading the operators afterwards takes up
    to half a second per megabyte."""

    def __init__(self, at_once: int = _MOST_AT_ONCE, in_all: int = _MOST_IN_ALL) -> None:
        self._at_once, self._left = at_once, in_all

    def decode(self, streams: Sequence[PdfStream]) -> list[bytes] | None:
        """Return the decoded ``streams``; ``None`` where one of them fails or the budget is exceeded."""
        limit, found = min(self._at_once, self._left), list[bytes]()
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
    if b"/F" in stream.dictionary or (stream.data and not _ends(stream, filters)):
        return None
    if not stream.data:  # as qpdf writes empty contents
        return b""
    if filters is not None and any(name in serialized(filters) for name in _OF_PICTURES):
        return None
    try:
        return unpacked(stream, limit, complete=True)
    except Unsafe:
        return None


def _ends(stream: PdfStream, filters: object) -> bool:
    """Return whether the data ends as its first filter requires. Unfiltered data may end anywhere."""
    if filters is None or filters == []:
        return True
    first = filters[0] if isinstance(filters, list) else filters
    return isinstance(first, bytes) and stream.data.rstrip().endswith(_ENDED.get(first, b""))


@cache
def operations() -> re.Pattern[bytes]:
    """Compile the pattern that finds the operators which open, close or interrupt something, and skips all others.

    It finds ``q Q BT ET EMC``, ``BMC`` and ``BDC`` with their operands, and the parts of a path that is not painted at
    once. Where contents are malformed, the last match is the whole rest of them. Compiling is slow, so it waits for the
    first use.
    """
    number, two = _NUMBER, _NUMBER * 2
    passed = [
        _kerned(),
        two + rb"(?:m|" + two + rb"re)" + _END + _path() + rb"*+" + _painting() + _END,
        number + _numbered() + _END,
        rb"(?:[0-2]" + _SOME + rb"[Jj]|[0-7]" + _SOME + rb"Tr)" + _END,
        _text() + rb"(?:Tj|')" + _END,
        _NAME + rb"(?:gs|cs|CS|Do|sh|ri|MP|SCN|scn|" + number + rb"Tf)" + _END,
        rb"(?:T\*|[BE]X)" + _END,
        _SOME,
        rb"\[(?:%b(?=[\x00\t\n\x0c\r (<\]])|%b|%b)*+\]%bTJ%b" % (_DIGITS, _text(), _SOME, _ANY, _END),
        rb"\[%b*+(?:%b(?=[\x00\t\n\x0c\r \]])%b)*+\]%b%bd%b" % (_SPACE, _DIGITS, _ANY, _ANY, number, _END),
        rb"%[^\r\n]*+[\r\n]",
    ]
    return re.compile(rb"(?:" + rb"|".join(passed) + rb")*+(" + _found() + rb"|[\s\S]++|\Z)")


def found_in(stream: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield what :func:`operations` finds, with its place. The data of an inline image is skipped where all readers
    see the same end of it."""
    position = 0
    while found := operations().match(stream, position):
        yield found[1], found.start(1)
        position = found.end()
        if found[1][:2] == b"BI":
            end = end_of_image(found[1], stream, position)
            if end is None:
                yield _MALFORMED, found.start(1)
                yield b"", len(stream)
                return
            position = end
        if not found[1]:
            return


@cache
def glyph_begins() -> re.Pattern[bytes]:
    """Compile the pattern of the operator with which the contents of a glyph begin (ISO 32000-1, 9.6.5)."""
    two = _NUMBER * 2
    return re.compile(_ANY + two + rb"(?:d0|" + two * 2 + rb"d1)" + _END)


@cache
def well_formed() -> re.Pattern[bytes]:
    """Compile the pattern of what :func:`operations` finds, except for the rest of malformed contents."""
    return re.compile(_found())


def _found() -> bytes:
    marked = _NAME + rb"(?:BMC|(?:" + _NAME + rb"|" + _dictionary() + rb")BDC)"
    operators = rb"(?:[qQ]|BT|ET|EMC|" + _painting() + rb"|" + marked + rb")" + _ENDS
    return operators + rb"|" + _image() + rb"|" + _path() + rb"++"


def _image() -> bytes:
    """Return the pattern of an inline image up to its data."""
    word = rb"(?:" + _NAME + rb"|(?:" + _DIGITS + rb"|true|false)" + _ENDS + _ANY + rb"|" + _text() + rb")"
    entry = _NAME + rb"(?:" + word + rb"|\[" + _ANY + word + rb"*+\]" + _ANY + rb"|<<" + _ANY + rb"(?:" + _NAME + word
    return rb"BI" + _END + _ANY + rb"(?:" + entry + rb")*+>>" + _ANY + rb"))*+ID(?:[\t\n ]|\r(?!\n))"


def _kerned() -> bytes:
    """Return the pattern of an array of alternating strings and numbers, the usual line of text, which matches twice as
    fast as the general rules."""
    kern = rb"-?+(?:[0-9]{1,7}+(?:\.[0-9]{0,30}+)?+|\.[0-9]{1,30}+)"
    shown = rb"\[(?:" + _string(0) + rb"(?:" + kern + rb")?+)*+\] ?+TJ" + _SPACE + rb"++"
    return shown + rb"(?:T\*" + _SPACE + rb"++)?+"


def _path() -> bytes:
    two = _NUMBER * 2
    return rb"(?:(?:" + two + rb"(?:[ml]|" + two + rb"(?:" + two + rb"c|re|[vy]))|h|W\*?+)" + _END + rb")"


def _painting() -> bytes:
    return rb"(?:[fBb]\*?+|[SnsF])"


def _numbered() -> bytes:
    """Return the pattern of the rest of an operation whose first operand is a number."""
    colour = rb"SCN?+|scn?+|" + _NAME + rb"(?:SCN|scn)"
    more = rb"[kK]|" + colour + rb"|" + _NUMBER * 2 + rb"(?:cm|Tm)"
    for here in (rb"rg|RG", rb"T[dD]|" + _text() + rb"\"", rb"[wMigG]|T[cwzLs]"):
        more = here + rb"|" + colour + rb"|" + _NUMBER + rb"(?:" + more + rb")"
    return rb"(?:" + more + rb")"


def _text() -> bytes:
    return rb"(?:" + _string(2) + rb"|" + _HEXADECIMAL + rb")" + _ANY


def _string(depth: int) -> bytes:
    """Return the pattern of a literal string with others nested in it down to ``depth`` levels."""
    plain = rb"[\x00-\x0c\x0e-'*-\[\]-\xff]*+"  # some readers take a carriage return for the end of a line
    escape = rb"\\(?:[\x00-\x0c\x0e-/:-\xff]|[0-3][0-7]{2}|[0-7]{1,2}+(?![0-7])|\r\n?+)"
    within = rb"(?:" + escape + rb"|" + _string(depth - 1) + rb")" if depth else escape
    return rb"\(" + plain + rb"(?:" + within + plain + rb")*+\)"


def _dictionary() -> bytes:
    key = rb"/" + _OF_NAMES + rb"{1,127}+"
    array = rb"\[(?:" + _NAME + rb"|" + _DIGITS + rb"(?=[\x00\t\n\x0c\r \]])|" + _SOME + rb")*+\]"
    word = rb"(?:" + key + rb"|" + _DIGITS + rb"|true|false|null)" + _ENDS
    values = [word, _string(1), _HEXADECIMAL, array]
    value = rb"(?:" + rb"|".join(values) + rb")" + _ANY
    inner = rb"<<" + _ANY + rb"(?:" + _NAME + value + rb")*+>>" + _ANY
    return rb"<<" + _ANY + rb"(?:" + _NAME + rb"(?:" + value + rb"|" + inner + rb"))*+>>" + _ANY
