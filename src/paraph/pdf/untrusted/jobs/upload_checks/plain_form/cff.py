"""The names of the glyphs in a font program in the Compact Font Format (Adobe Technical Note 5176)."""

from itertools import pairwise
from typing import NamedTuple

from fontTools.encodings.StandardEncoding import StandardEncoding

from paraph.pdf.untrusted.jobs.upload_checks.plain_form.streams import Beginning

_NOT_LATIN = ".notdef"
_BEYOND = """
onesuperior logicalnot mu trademark Eth onehalf plusminus Thorn onequarter divide brokenbar degree thorn threequarters
twosuperior registered minus eth multiply threesuperior copyright Aacute Acircumflex Adieresis Agrave Aring Atilde
Ccedilla Eacute Ecircumflex Edieresis Egrave Iacute Icircumflex Idieresis Igrave Ntilde Oacute Ocircumflex Odieresis
Ograve Otilde Scaron Uacute Ucircumflex Udieresis Ugrave Yacute Ydieresis Zcaron aacute acircumflex adieresis agrave
aring atilde ccedilla eacute ecircumflex edieresis egrave iacute icircumflex idieresis igrave ntilde oacute ocircumflex
odieresis ograve otilde scaron uacute ucircumflex udieresis ugrave yacute ydieresis zcaron
"""
_STANDARD = [_NOT_LATIN, *(name for name in StandardEncoding if name != _NOT_LATIN), *_BEYOND.split()]
"""The strings that every reader knows by their numbers, but for those of expert fonts."""
_STRINGS = 391  # numbers of those; behind them come those of the program
_CHARSET, _CHARSTRINGS, _ROS = 15, 17, 0x0C1E
_MOST = 4096  # glyphs, and strings
_REAL, _LONG, _SHORT, _ESCAPE = 30, 29, 28, 12


class _Index(NamedTuple):
    places: list[tuple[int, int]]
    end: int


def glyph_names(data: Beginning, start: int = 0) -> set[bytes] | None:
    """Return the names with slashes; ``None`` where glyphs have numbers instead, or the program is odd."""
    names = _index(data, start + data.read(start + 2, 1)[0])
    tops = _index(data, names.end)
    strings = _index(data, tops.end)
    if len(tops.places) != 1:
        return None
    top = _operators(data.read(tops.places[0][0], tops.places[0][1]))
    if _ROS in top or not top.get(_CHARSTRINGS):
        return None
    count = int.from_bytes(data.read(start + top[_CHARSTRINGS], 2), "big")
    found = {b"/.notdef"}
    for number in _charset(data, start, top.get(_CHARSET, 0), count):
        if number < len(_STANDARD):
            found.add(b"/" + _STANDARD[number].encode())
        elif _STRINGS <= number < _STRINGS + len(strings.places):
            found.add(b"/" + data.read(*strings.places[number - _STRINGS]))
    return found


def _index(data: Beginning, place: int) -> _Index:
    """Return (place, length) of each item, and the place behind them."""
    count = int.from_bytes(data.read(place, 2), "big")
    if not count:
        return _Index([], place + 2)
    size = data.read(place + 2, 1)[0]
    raw = data.read(place + 3, min(count + 1, _MOST) * size)
    offsets = [int.from_bytes(raw[at : at + size], "big") for at in range(0, len(raw), size)]
    base = place + 2 + (count + 1) * size
    last = int.from_bytes(data.read(place + 3 + count * size, size), "big")
    items = [(base + here, there - here) for here, there in pairwise(offsets)]
    return _Index(items, base + last)


def _operators(text: bytes) -> dict[int, int]:
    """Return the last integer before each operator of a dictionary."""
    found, last, at = dict[int, int](), 0, 0
    while at < len(text):
        first = text[at]
        if first < 22:
            at += first == _ESCAPE
            found[(first << 8) + text[at] if first == _ESCAPE else first], last = last, 0
            at += 1
        elif first == _REAL:
            while text[at + 1] & 15 != 15 and text[at + 1] >> 4 != 15:
                at += 1
            at += 2
        elif first in (_LONG, _SHORT):
            size = 4 if first == _LONG else 2
            last = int.from_bytes(text[at + 1 : at + 1 + size], "big")
            at += 1 + size
        else:  # 32 to 246 are numbers themselves, those above are continued
            last = first - 139 if first < 247 else (first - 247) * 256 + text[at + 1] + 108
            at += 1 if first < 247 else 2
    return found


def _charset(data: Beginning, start: int, offset: int, count: int) -> list[int]:
    """Return the numbers of the names of the glyphs but the first."""
    if offset == 0:
        return list(range(1, count))
    kind, wanted = data.read(start + offset, 1), min(count, _MOST) - 1
    if kind == b"\x00":
        raw = data.read(start + offset + 1, 2 * wanted)
        return [int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2)]
    found, size, place = list[int](), 3 if kind == b"\x01" else 4, start + offset + 1
    while len(found) < wanted and kind in (b"\x01", b"\x02"):
        part = data.read(place, size)
        if len(part) < size:
            break
        first = int.from_bytes(part[:2], "big")
        found += range(first, first + int.from_bytes(part[2:], "big") + 1)
        place += size
    return found[:wanted]
