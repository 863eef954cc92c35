"""Page contents, decoded completely, and their operators with operands as a regular expression (ISO 32000-1, annex A).

Of a damaged stream, each viewer shows another part. Every quantifier is possessive, so matching never backtracks and
takes linear time on any contents. Character classes list what they contain: the engine matches those twice as fast as
negated ones.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from paraph.pdf.structure.inline_images import end_of_image
from paraph.pdf.structure.objects import PdfStream, Unsafe, serialized
from paraph.pdf.structure.unpacking import LARGEST, unpacked

_OF_PICTURES = (b"DCT", b"JPX", b"CCITT", b"CCF", b"JBIG2", b"Crypt")
_LAST = {b"/ASCIIHexDecode": b">", b"/AHx": b">", b"/ASCII85Decode": b"~>", b"/A85": b"~>"}
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
"""Matches a part of a path; group 1 is set where the part begins the path, or clips by one to come."""


class ContentsDecoder:
    """Decode the contents of one file within a budget of bytes. What follows, reading the operators, takes up to
    half a second per megabyte."""

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
    if not stream.data:  # as qpdf writes contents without anything in them
        return b""
    if b"/F" in stream.dictionary or not _ends(stream, filters):
        return None
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
    return isinstance(first, bytes) and bool(stream.data) and stream.data.rstrip().endswith(_LAST.get(first, b""))


@cache
def operations() -> re.Pattern[bytes]:
    """Compile the pattern that finds the operators which open, close or interrupt something, and skips all others.

    It finds ``q Q BT ET EMC``, ``BMC`` and ``BDC`` with their operands, and the parts of a path that is not painted at
    once. Where contents are malformed, the last match is all the rest of them. Compiling is slow, so it waits for first
    use.
    """
    number, path = _NUMBER, _path()
    passed = [
        _kerned(),
        _path_begin() + path + rb"*+" + _painting() + _END,
        number + _numbered() + _END,
        rb"(?:[0-2]" + _SOME + rb"[Jj]|[0-7]" + _SOME + rb"Tr)" + _END,
        _text() + rb"(?:Tj|')" + _END,
        _NAME + rb"(?:gs|cs|CS|Do|sh|ri|MP|SCN|scn|" + number + rb"Tf)" + _END,
        rb"(?:T\*|[BE]X)" + _END,
        _SOME,
        rb"\[(?:"
        + _DIGITS
        + rb"(?=[\x00\t\n\x0c\r (<\]])|"
        + _text()
        + rb"|"
        + _SOME
        + rb")*+\]"
        + _ANY
        + rb"TJ"
        + _END,
        rb"\["
        + _SPACE
        + rb"*+(?:"
        + _DIGITS
        + rb"(?=[\x00\t\n\x0c\r \]])"
        + _ANY
        + rb")*+\]"
        + _ANY
        + number
        + rb"d"
        + _END,
        rb"%[^\r\n]*+[\r\n]",
    ]
    return re.compile(rb"(?:" + rb"|".join(passed) + rb")*+(" + _found() + rb"|[\s\S]++|\Z)")


def found_in(stream: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield what :func:`operations` finds, with its place; the data of inline images are passed over, where all
    readers see the same end of them."""
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
    """Compile the pattern of what :func:`operations` finds, but for the rest of malformed contents."""
    return re.compile(_found())


def _found() -> bytes:
    marked = _NAME + rb"(?:BMC|(?:" + _NAME + rb"|" + _dictionary() + rb")BDC)"
    operators = rb"(?:[qQ]|BT|ET|EMC|" + _painting() + rb"|" + marked + rb")" + _ENDS
    return operators + rb"|" + _image() + rb"|" + _path() + rb"++"


def _image() -> bytes:
    """Return an inline image up to its data."""
    word = rb"(?:" + _NAME + rb"|(?:" + _DIGITS + rb"|true|false)" + _ENDS + _ANY + rb"|" + _text() + rb")"
    entry = _NAME + rb"(?:" + word + rb"|\[" + _ANY + word + rb"*+\]" + _ANY + rb"|<<" + _ANY + rb"(?:" + _NAME + word
    return rb"BI" + _END + _ANY + rb"(?:" + entry + rb")*+>>" + _ANY + rb"))*+ID(?:[\t\n ]|\r(?!\n))"


def _kerned() -> bytes:
    """Return an array of strings and numbers in turn, the usual line of text, at twice the speed of the general
    rules."""
    kern = rb"-?+(?:[0-9]{1,7}+(?:\.[0-9]{0,30}+)?+|\.[0-9]{1,30}+)"
    shown = rb"\[(?:" + _string(0) + rb"(?:" + kern + rb")?+)*+\] ?+TJ" + _SPACE + rb"++"
    return shown + rb"(?:T\*" + _SPACE + rb"++)?+"


def _path() -> bytes:
    two = _NUMBER * 2
    return rb"(?:(?:" + two + rb"(?:[ml]|" + two + rb"(?:" + two + rb"c|re|[vy]))|h|W\*?+)" + _END + rb")"


def _path_begin() -> bytes:
    two = _NUMBER * 2
    return two + rb"(?:m|" + two + rb"re)" + _END


def _painting() -> bytes:
    return rb"(?:[fBb]\*?+|[SnsF])"


def _numbered() -> bytes:
    """Return the rest of an operation whose first operand is a number."""
    colour = rb"SCN?+|scn?+|" + _NAME + rb"(?:SCN|scn)"
    more = rb"[kK]|" + colour + rb"|" + _NUMBER * 2 + rb"(?:cm|Tm)"
    for here in (rb"rg|RG", rb"T[dD]|" + _text() + rb"\"", rb"[wMigG]|T[cwzLs]"):
        more = here + rb"|" + colour + rb"|" + _NUMBER + rb"(?:" + more + rb")"
    return rb"(?:" + more + rb")"


def _text() -> bytes:
    return rb"(?:" + _string(2) + rb"|" + _HEXADECIMAL + rb")" + _ANY


def _string(depth: int) -> bytes:
    """Return a literal string with others nested in it down to ``depth`` levels."""
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
