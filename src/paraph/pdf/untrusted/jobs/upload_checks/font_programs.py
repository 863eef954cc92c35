"""The programs of embedded fonts: their kinds, and how codes and names lead to glyphs.

TrueType: ISO 32000-2, 9.6.5.4, and OpenType, "cmap". Compact Font Format: Adobe Technical Note 5176.
"""

from itertools import pairwise
from typing import NamedTuple

from fontTools.encodings.StandardEncoding import StandardEncoding

from paraph.pdf.structure.objects import Dictionary
from paraph.pdf.untrusted.jobs.upload_checks import values
from paraph.pdf.untrusted.jobs.upload_checks.values import Beginning, Kinds, NotPlain, Resolve, check_entries

_PROGRAMS = (b"/FontFile", b"/FontFile2", b"/FontFile3")
_TYPE1, _TRUETYPE, _CFF, _OPENTYPE = (b"%!",), (b"\x00\x01\x00\x00", b"true"), (b"\x01\x00",), (b"OTTO",)
_FITTING = {
    (b"/Type1", b"/FontFile", None): _TYPE1,
    (b"/Type1", b"/FontFile3", b"/Type1C"): _CFF,
    (b"/Type1", b"/FontFile3", b"/OpenType"): _OPENTYPE,
    (b"/MMType1", b"/FontFile", None): _TYPE1,
    (b"/MMType1", b"/FontFile3", b"/Type1C"): _CFF,
    (b"/TrueType", b"/FontFile2", None): _TRUETYPE,
    (b"/CIDFontType0", b"/FontFile3", b"/CIDFontType0C"): _CFF,
    (b"/CIDFontType0", b"/FontFile3", b"/OpenType"): _OPENTYPE,
    (b"/CIDFontType2", b"/FontFile2", None): _TRUETYPE,
    (b"/CIDFontType2", b"/FontFile3", b"/OpenType"): _TRUETYPE,
}
"""How the program of a font begins, by the kind of the font, the entry and the kind of the program."""
_PROGRAM_KINDS = frozenset({b"/Type1C", b"/CIDFontType0C", b"/OpenType"})
_DESCRIPTOR: Kinds = {
    b"/Flags": values.is_integer,
    b"/FontBBox": values.numbers(4),
    **dict.fromkeys((b"/ItalicAngle", b"/Ascent", b"/Descent", b"/StemV", b"/MissingWidth"), values.is_number),
    **dict.fromkeys((b"/FontFile", b"/FontFile2", b"/FontFile3"), values.is_stream),
}
_SYMBOLS, _LATIN, _MAC, _UNICODE = (3, 0), (3, 1), (1, 0), 0
_PLAIN_FORMATS = frozenset({0, 4, 6, 12})
_MOST_TABLES, _MOST_MAPS, _MOST_CODES = 64, 16, 2000
_PRIVATE = 0xF000
_OWN_NAMES, _NO_NAMES = b"\x00\x02\x00\x00", b"\x00\x03\x00\x00"
_SPACE_LIKE = 0xCA  # which may share the glyph of the space
_BYTE = 256
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
_STRINGS = 391  # the number of all standard strings; the strings of the program are numbered from here
_CHARSET, _CHARSTRINGS, _ROS = 15, 17, 0x0C1E
_MOST = 4096  # glyphs, and strings
_REAL, _LONG, _SHORT, _ESCAPE = 30, 29, 28, 12


def is_embedded(descriptor: Dictionary | None, resolve: Resolve) -> bool:
    """Return whether a font has a program of its own. Raise NotPlain."""
    if descriptor is None:
        return False
    check_entries("a font", descriptor, _DESCRIPTOR, resolve)
    programs = [key for key in _PROGRAMS if key in descriptor]
    if len(programs) > 1:
        raise NotPlain("a font has several programs")
    program = resolve(descriptor.get(b"/FontFile3"))
    if program is not None and resolve(program.dictionary.get(b"/Subtype")) not in _PROGRAM_KINDS:
        raise NotPlain("a font has a program of an unknown kind")
    return bool(programs)


def embedded_program(subtype: bytes, descriptor: Dictionary, resolve: Resolve) -> Beginning | None:
    """Return the program that is embedded; ``None`` where it is not of the kind that the font needs."""
    (key,) = (each for each in _PROGRAMS if each in descriptor)
    stream = resolve(descriptor[key])
    data = Beginning(stream)
    begins = _FITTING.get((subtype, key, resolve(stream.dictionary.get(b"/Subtype"))), ())
    return data if data.read(0, 4).startswith(begins) else None


def finds_glyphs(subtype: bytes, data: Beginning, names: set[bytes], *, symbolic: bool) -> bool:
    """Return whether all readers find the glyphs of a simple font in its program."""
    try:
        if subtype == b"/TrueType":
            return _maps_alike(data, symbolic=symbolic)
    except (IndexError, KeyError):
        return False
    if data.read(0, 2) == b"%!":  # its names are encrypted
        return True
    known = glyph_names(data)
    return known is not None and names <= known


def has_numbered_glyphs(data: Beginning) -> bool:
    """Return whether glyphs of an OpenType program are found by their numbers, or by its own list of them."""
    return data.read(0, 4) in _OPENTYPE and glyph_names(data) is None


def _tables(data: Beginning) -> dict[bytes, int]:
    """Return the offset of each table."""
    raw = data.read(12, min(data.number(4), _MOST_TABLES) * 16)
    return {raw[at : at + 4]: int.from_bytes(raw[at + 8 : at + 12]) for at in range(0, len(raw) - 15, 16)}


def _maps_alike(data: Beginning, *, symbolic: bool) -> bool:
    """Return whether all readers find the same glyphs for codes, by whichever of the maps they prefer."""
    found = _tables(data)
    if (start := found.get(b"cmap")) is None:
        return False
    raw = data.read(start + 4, min(data.number(start + 2), _MOST_MAPS) * 8)
    places = dict[tuple[int, int], int]()
    for at in range(0, len(raw) - 7, 8):
        kind = int.from_bytes(raw[at : at + 2]), int.from_bytes(raw[at + 2 : at + 4])
        places[kind] = start + int.from_bytes(raw[at + 4 : at + 8])
    latin = [place for kind, place in places.items() if kind == _LATIN or kind[0] == _UNICODE]
    if not symbolic and latin:
        return any(data.number(place) in _PLAIN_FORMATS for place in latin)
    if not symbolic:
        return _MAC in places and _are_named(data, found.get(b"post"), _by_codes(data, places[_MAC]))
    maps = [_by_codes(data, place) for kind, place in places.items() if place in latin or kind in (_SYMBOLS, _MAC)]
    read = [each for each in maps if each is not None]
    if not read or len(read) < len(maps):
        return False
    return all(one.get(code) == glyph for one in read for code, glyph in read[0].items())


def _are_named(data: Beginning, post: int | None, glyphs: dict[int, int] | None) -> bool:
    """Return whether the glyphs of a map by Macintosh codes have the names of these codes, or none: FreeType makes a
    map of names, which PDFium prefers."""
    if glyphs is None or post is None or data.read(post, 4) == _NO_NAMES:
        return glyphs is not None
    if data.read(post, 4) != _OWN_NAMES:
        return False
    names = data.numbers(post + 34, data.number(post + 32))
    for code, glyph in glyphs.items():
        name = code - (29 if code < 0x7F else 30)
        if names[glyph : glyph + 1] not in ([name], [3] if code == _SPACE_LIKE else []) or names.count(name) > 1:
            return False
    return True


def _by_codes(data: Beginning, place: int) -> dict[int, int] | None:
    """Return the glyph of each code below 256; ``None`` where a map is of another format, or mixes ranges of codes."""
    kind = data.number(place)
    found: dict[int, int] | None = None
    if kind == 0:
        found = dict(enumerate(data.read(place + 6, _BYTE)))
    elif kind == 6:
        first, count = data.number(place + 6), min(data.number(place + 8), _MOST_CODES)
        found = {first + at: data.number(place + 10 + 2 * at) for at in range(count)}
    elif kind == 4:
        found = _of_segments(data, place)
    if found is None:
        return None
    used = {code: glyph for code, glyph in found.items() if glyph and code != 0xFFFF}
    bases = {code & ~0xFF for code in used}
    return {code & 0xFF: glyph for code, glyph in used.items()} if bases in ({0}, {_PRIVATE}) else None


def _of_segments(data: Beginning, place: int) -> dict[int, int] | None:
    double = min(data.number(place + 6), 2 * _MOST_CODES)
    ends, found = place + 14, dict[int, int]()
    for at in range(0, double, 2):
        end, first = data.number(ends + at), data.number(ends + double + 2 + at)
        delta, offset = data.number(ends + 2 * double + 2 + at), data.number(ends + 3 * double + 2 + at)
        if end - first + len(found) > _MOST_CODES:
            return None
        for code in range(first, end + 1):
            glyph = data.number(ends + 3 * double + 2 + at + offset + 2 * (code - first)) if offset else code
            found[code] = (glyph + delta) & 0xFFFF if glyph or not offset else 0
    return found


class _Index(NamedTuple):
    places: list[tuple[int, int]]
    end: int


def glyph_names(data: Beginning) -> set[bytes] | None:
    """Return the names, with slashes, of the glyphs of a CFF; ``None`` where they have numbers, or the CFF is odd."""
    try:
        start = _tables(data)[b"CFF "] if data.read(0, 4) in _OPENTYPE else 0
        names = _index(data, start + data.read(start + 2, 1)[0])
        tops = _index(data, names.end)
        strings = _index(data, tops.end)
        if len(tops.places) != 1:
            return None
        top = _operators(data.read(*tops.places[0]))
        if _ROS in top or not top.get(_CHARSTRINGS):
            return None
        count, found = data.number(start + top[_CHARSTRINGS]), {b"/.notdef"}
        for number in _charset(data, start, top.get(_CHARSET, 0), count):
            if number < len(_STANDARD):
                found.add(b"/" + _STANDARD[number].encode())
            elif _STRINGS <= number < _STRINGS + len(strings.places):
                found.add(b"/" + data.read(*strings.places[number - _STRINGS]))
    except (IndexError, KeyError):
        return None
    return found


def _index(data: Beginning, place: int) -> _Index:
    """Return (place, length) of each item, and the place behind them."""
    count = data.number(place)
    if not count:
        return _Index([], place + 2)
    size = data.read(place + 2, 1)[0]
    offsets = data.numbers(place + 3, min(count + 1, _MOST), size)
    base = place + 2 + (count + 1) * size
    last = data.number(place + 3 + count * size, size)
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
            last = int.from_bytes(text[at + 1 : at + 1 + size])
            at += 1 + size
        else:  # 32 to 246 are numbers themselves, those above are continued
            last = first - 139 if first < 247 else (first - 247) * 256 + text[at + 1] + 108
            at += 1 if first < 247 else 2
    return found


def _charset(data: Beginning, start: int, offset: int, count: int) -> list[int]:
    """Return the number of the name of each glyph but the first."""
    if offset == 0:
        return list(range(1, count))
    kind, wanted = data.read(start + offset, 1), min(count, _MOST) - 1
    if kind == b"\x00":
        return data.numbers(start + offset + 1, wanted)
    found, size, place = list[int](), 3 if kind == b"\x01" else 4, start + offset + 1
    while len(found) < wanted and kind in (b"\x01", b"\x02"):
        part = data.read(place, size)
        if len(part) < size:
            break
        first = int.from_bytes(part[:2])
        found += range(first, first + int.from_bytes(part[2:]) + 1)
        place += size
    return found[:wanted]
