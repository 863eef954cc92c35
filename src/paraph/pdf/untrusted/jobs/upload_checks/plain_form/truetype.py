"""Which glyphs a TrueType program has for codes (ISO 32000-2, 9.6.5.4; OpenType, "cmap")."""

from paraph.pdf.untrusted.jobs.upload_checks.plain_form.streams import Beginning

KINDS = (b"\x00\x01\x00\x00", b"true")
"""How a program begins."""
_SYMBOLS, _LATIN, _MAC, _UNICODE = (3, 0), (3, 1), (1, 0), 0
_PLAIN_FORMATS = frozenset({0, 4, 6, 12})
_MOST_TABLES, _MOST_MAPS, _MOST_CODES = 64, 16, 2000
_PRIVATE = 0xF000
_OWN_NAMES, _NO_NAMES = b"\x00\x02\x00\x00", b"\x00\x03\x00\x00"
_SPACE_LIKE = 0xCA  # which may share the glyph of the space
_BYTE = 256


def tables(data: Beginning) -> dict[bytes, int]:
    """Return the offset of each table."""
    count = int.from_bytes(data.read(4, 2), "big")
    raw = data.read(12, min(count, _MOST_TABLES) * 16)
    return {raw[at : at + 4]: int.from_bytes(raw[at + 8 : at + 12], "big") for at in range(0, len(raw) - 15, 16)}


def maps_alike(data: Beginning, *, symbolic: bool) -> bool:
    """Return whether all readers find the same glyphs for codes, by whichever of the maps they prefer."""
    found = tables(data)
    start = found.get(b"cmap")
    if start is None:
        return False
    count = int.from_bytes(data.read(start + 2, 2), "big")
    raw = data.read(start + 4, min(count, _MOST_MAPS) * 8)
    places = dict[tuple[int, int], int]()
    for at in range(0, len(raw) - 7, 8):
        kind = int.from_bytes(raw[at : at + 2], "big"), int.from_bytes(raw[at + 2 : at + 4], "big")
        places[kind] = start + int.from_bytes(raw[at + 4 : at + 8], "big")
    latin = [place for kind, place in places.items() if kind == _LATIN or kind[0] == _UNICODE]
    if not symbolic and latin:
        return any(_number(data, place) in _PLAIN_FORMATS for place in latin)
    if not symbolic:
        return _MAC in places and _are_named(data, found.get(b"post"), _by_codes(data, places[_MAC]))
    maps = [_by_codes(data, place) for kind, place in places.items() if place in latin or kind in (_SYMBOLS, _MAC)]
    read = [each for each in maps if each is not None]
    if not read or len(read) < len(maps):
        return False
    return all(one.get(code) == glyph for one in read for code, glyph in read[0].items())


def _are_named(data: Beginning, post: int | None, glyphs: dict[int, int] | None) -> bool:
    """Return whether the glyphs of a map by Macintosh codes have the names of these, or none: FreeType makes a map of
    names, which PDFium prefers."""
    if glyphs is None or post is None or data.read(post, 4) == _NO_NAMES:
        return glyphs is not None
    if data.read(post, 4) != _OWN_NAMES:
        return False
    raw = data.read(post + 34, 2 * _number(data, post + 32))
    names = [int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2)]
    for code, glyph in glyphs.items():
        name = code - (29 if code < 0x7F else 30)
        if names[glyph : glyph + 1] not in ([name], [3] if code == _SPACE_LIKE else []) or names.count(name) > 1:
            return False
    return True


def _by_codes(data: Beginning, place: int) -> dict[int, int] | None:
    """Return the glyph of each code below 256; ``None`` where a map is of another format, or has it in two ways."""
    kind = _number(data, place)
    found: dict[int, int] | None = None
    if kind == 0:
        found = dict(enumerate(data.read(place + 6, _BYTE)))
    elif kind == 6:
        first, count = _number(data, place + 6), min(_number(data, place + 8), _MOST_CODES)
        found = {first + at: _number(data, place + 10 + 2 * at) for at in range(count)}
    elif kind == 4:
        found = _of_segments(data, place)
    if found is None:
        return None
    used = {code: glyph for code, glyph in found.items() if glyph and code != 0xFFFF}
    bases = {code & ~0xFF for code in used}
    return {code & 0xFF: glyph for code, glyph in used.items()} if bases in ({0}, {_PRIVATE}) else None


def _of_segments(data: Beginning, place: int) -> dict[int, int] | None:
    double = min(_number(data, place + 6), 2 * _MOST_CODES)
    ends, found = place + 14, dict[int, int]()
    for at in range(0, double, 2):
        end, first = _number(data, ends + at), _number(data, ends + double + 2 + at)
        delta, offset = _number(data, ends + 2 * double + 2 + at), _number(data, ends + 3 * double + 2 + at)
        if end - first + len(found) > _MOST_CODES:
            return None
        for code in range(first, end + 1):
            glyph = code
            if offset:
                glyph = _number(data, ends + 3 * double + 2 + at + offset + 2 * (code - first))
            found[code] = (glyph + delta) & 0xFFFF if glyph or not offset else 0
    return found


def _number(data: Beginning, place: int) -> int:
    return int.from_bytes(data.read(place, 2), "big")
