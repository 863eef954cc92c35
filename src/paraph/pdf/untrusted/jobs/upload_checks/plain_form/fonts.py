"""The fonts of a plain file (ISO 32000-1, 9.5 to 9.9), and which of them readers may still draw differently."""

from itertools import pairwise
from typing import Any

from fontTools.agl import AGL2UV

from paraph.pdf.structure.objects import Dictionary, PdfStream
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import cff, truetype
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.streams import Beginning
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.values import (
    NotPlain,
    Resolve,
    any_of,
    check_entries,
    is_array,
    is_dictionary,
    is_integer,
    is_name,
    is_natural,
    is_number,
    is_stream,
    number,
    numbers,
    one_of,
)

_SIMPLE = frozenset({b"/Type1", b"/MMType1", b"/TrueType", b"/Type3"})
_FONT = {
    b"/BaseFont": is_name,
    b"/FirstChar": is_natural,
    b"/LastChar": is_natural,
    b"/Widths": is_array,
    b"/FontDescriptor": is_dictionary,
    b"/Encoding": any_of(is_name, is_dictionary, is_stream),
    b"/FontBBox": numbers(4),
    b"/FontMatrix": numbers(6),
    b"/CharProcs": is_dictionary,
    b"/Resources": is_dictionary,
    b"/DescendantFonts": lambda value: is_array(value) and len(value) == 1,
}
_DESCENDANT = {
    b"/Subtype": one_of(b"/CIDFontType0", b"/CIDFontType2"),
    b"/BaseFont": is_name,
    b"/CIDSystemInfo": is_dictionary,
    b"/FontDescriptor": is_dictionary,
    b"/DW": is_number,
    b"/W": is_array,
    b"/DW2": numbers(2),
    b"/W2": is_array,
    b"/CIDToGIDMap": any_of(one_of(b"/Identity"), is_stream),
}
_DESCRIPTOR = {
    b"/Flags": is_integer,
    b"/FontBBox": numbers(4),
    b"/ItalicAngle": is_number,
    b"/Ascent": is_number,
    b"/Descent": is_number,
    b"/StemV": is_number,
    b"/MissingWidth": is_number,
    b"/FontFile": is_stream,
    b"/FontFile2": is_stream,
    b"/FontFile3": is_stream,
}
_ENCODING = {b"/BaseEncoding": is_name, b"/Differences": is_array}
_ENCODINGS = frozenset({b"/WinAnsiEncoding", b"/MacRomanEncoding", b"/StandardEncoding", b"/MacExpertEncoding"})
_OF_LATIN_LETTERS = _ENCODINGS - {b"/MacExpertEncoding"}
_PROGRAMS = (b"/FontFile", b"/FontFile2", b"/FontFile3")
_CFF, _OPENTYPE = (b"\x01\x00",), (b"OTTO",)
_FITTING = {
    (b"/Type1", b"/FontFile", None): (b"%!",),
    (b"/Type1", b"/FontFile3", b"/Type1C"): _CFF,
    (b"/Type1", b"/FontFile3", b"/OpenType"): _OPENTYPE,
    (b"/MMType1", b"/FontFile", None): (b"%!",),
    (b"/MMType1", b"/FontFile3", b"/Type1C"): _CFF,
    (b"/TrueType", b"/FontFile2", None): truetype.KINDS,
    (b"/CIDFontType0", b"/FontFile3", b"/CIDFontType0C"): _CFF,
    (b"/CIDFontType0", b"/FontFile3", b"/OpenType"): _OPENTYPE,
    (b"/CIDFontType2", b"/FontFile2", None): truetype.KINDS,
    (b"/CIDFontType2", b"/FontFile3", b"/OpenType"): truetype.KINDS,
}
"""How the program of a font begins, by the kind of the font, the entry and the kind of the program."""
_PROGRAM_KINDS = frozenset({b"/Type1C", b"/CIDFontType0C", b"/OpenType"})
_STANDARD = frozenset(  # the fonts that every reader has (9.6.2.2)
    b"/" + family + style
    for family, styles in (
        (b"Courier", (b"", b"-Bold", b"-Oblique", b"-BoldOblique")),
        (b"Helvetica", (b"", b"-Bold", b"-Oblique", b"-BoldOblique")),
        (b"Times", (b"-Roman", b"-Bold", b"-Italic", b"-BoldItalic")),
        (b"Symbol", (b"",)),
        (b"ZapfDingbats", (b"",)),
    )
    for style in styles
)
_PICTOGRAMS = (b"/ZapfDingbats", b"/Symbol")
_OF_LATIN = ("fi", "fl", "onesuperior", "twosuperior", "threesuperior", ".notdef")
_GLYPHS = frozenset(b"/" + name.encode() for name in (*AGL2UV, *_OF_LATIN))
"""Names that every reader knows: those of the Adobe Glyph List for New Fonts, and of ISO 32000-1, annex D."""
_CODES = 256
_SYMBOLIC = 4
Remarks = frozenset[str]
"""What of a file is plain and may yet be drawn differently."""
NOTHING: Remarks = frozenset()


def check_font(font: Dictionary, resolve: Resolve) -> Remarks:
    """Return what readers may draw differently in the font. Raise NotPlain."""
    check_entries("a font", font, _FONT, resolve)
    subtype = resolve(font.get(b"/Subtype"))
    if subtype == b"/Type0":
        return _composite(font, resolve)
    if subtype not in _SIMPLE:
        raise NotPlain("a font is of an unknown kind")
    has_widths = _widths(font, resolve)
    encoding = resolve(font.get(b"/Encoding"))
    if subtype == b"/Type3":
        return _of_drawings(font, encoding, resolve, has_widths=has_widths)
    if b"/BaseFont" not in font:
        raise NotPlain("a font has no name")
    descriptor = resolve(font.get(b"/FontDescriptor"))
    embedded = _embedded(descriptor, resolve)
    if isinstance(encoding, PdfStream):
        raise NotPlain("a font has an odd encoding")
    names = differences(encoding, resolve) if is_dictionary(encoding) else set[bytes]()
    base = resolve(encoding.get(b"/BaseEncoding")) if is_dictionary(encoding) else encoding
    is_expert = base is not None and base not in _OF_LATIN_LETTERS
    if not embedded:
        name = resolve(font[b"/BaseFont"])
        remarks = set[str]() if name in _STANDARD else {"font_not_embedded"}
        if name not in _PICTOGRAMS and not names <= _GLYPHS:
            remarks.add("glyph_names")
        if is_expert or (name in _PICTOGRAMS and (names or base)):
            remarks.add("font_encoding")
        return frozenset(remarks)
    symbolic = bool(resolve(descriptor.get(b"/Flags", 0)) & _SYMBOLIC)
    found = set[str]() if has_widths or resolve(font[b"/BaseFont"]) in _STANDARD else {"font_widths"}
    if (subtype == b"/TrueType" and (names or bool(encoding) == symbolic)) or is_expert:
        found.add("font_encoding")
    program = _program(subtype, descriptor, resolve)
    if program is None:
        found.add("font_program")
    elif not _finds_glyphs(subtype, program, names, symbolic=symbolic):
        found.add("font_maps")
    return frozenset(found)


def _of_drawings(font: Dictionary, encoding: Any, resolve: Resolve, *, has_widths: bool) -> Remarks:
    if not is_dictionary(encoding) or not _has(font, b"/CharProcs", b"/FontMatrix"):
        raise NotPlain("a font of drawings lacks an entry")
    found = set[str]()
    if (resolve(font[b"/CharProcs"]).keys() - differences(encoding, resolve)) & _GLYPHS:
        found.add("glyph_codes")
    if not has_widths or not _scales_alone([number(resolve(each)) for each in resolve(font[b"/FontMatrix"])]):
        found.add("glyph_box")
    return frozenset(found)


def _program(subtype: bytes, descriptor: Dictionary, resolve: Resolve) -> Beginning | None:
    """Return the program that is embedded; ``None`` where it is not of the kind that the font needs."""
    (key,) = (each for each in _PROGRAMS if each in descriptor)
    stream = resolve(descriptor[key])
    data = Beginning(stream)
    begins = _FITTING.get((subtype, key, resolve(stream.dictionary.get(b"/Subtype"))), ())
    return data if data.read(0, 4).startswith(begins) else None


def _finds_glyphs(subtype: bytes, data: Beginning, names: set[bytes], *, symbolic: bool) -> bool:
    """Return whether all readers find the glyphs of a simple font in its program."""
    try:
        if subtype == b"/TrueType":
            return truetype.maps_alike(data, symbolic=symbolic)
        if data.read(0, 2) == b"%!":  # its names are encrypted
            return True
    except (IndexError, KeyError):
        return False
    known = _names(data)
    return known is not None and names <= known


def _names(data: Beginning) -> set[bytes] | None:
    """Return the names of the glyphs of a CFF; ``None`` where they have numbers instead, or the program is odd."""
    try:
        return cff.glyph_names(data, truetype.tables(data)[b"CFF "] if data.read(0, 4) in _OPENTYPE else 0)
    except (IndexError, KeyError):
        return None


def differences(encoding: Dictionary, resolve: Resolve) -> set[bytes]:
    """Return the names of glyphs that an encoding has in place of others. Raise NotPlain."""
    check_entries("an encoding", encoding, _ENCODING, resolve)
    base = resolve(encoding.get(b"/BaseEncoding"))
    if base is not None and base not in _ENCODINGS:
        raise NotPlain("an encoding has an unknown base")
    code, seen, names = -1, set[int](), set[bytes]()
    for item in resolve(encoding.get(b"/Differences")) or ():
        if type(item) is int:
            code = item
            continue
        if not is_name(item) or not 0 <= code < _CODES or code in seen:
            raise NotPlain("an encoding has odd differences")
        names.add(item)
        seen.add(code)
        code += 1
    return names


def _scales_alone(matrix: list[float]) -> bool:
    """Return whether drawings stand where all readers put them: neither turned nor moved. Chrome mirrors its own."""
    return matrix[0] > 0 != matrix[3] and not any((*matrix[1:3], *matrix[4:]))


def _widths(font: Dictionary, resolve: Resolve) -> bool:
    """Return whether the font has any. Raise NotPlain."""
    widths, first, last = (resolve(font.get(key)) for key in (b"/Widths", b"/FirstChar", b"/LastChar"))
    if widths is None:
        return False
    if not all(is_number(resolve(each)) for each in widths):
        raise NotPlain("a font has odd widths")
    if first is None or last is None or len(widths) != last - first + 1:
        raise NotPlain("a font has another number of widths than it says")
    return True


def _are_told_twice(widths: Any, resolve: Resolve) -> bool:
    """Return whether a composite font says the width of a glyph twice (9.7.4.3). Raise NotPlain."""
    items, ranges = map(resolve, widths or ()), list[tuple[int, int]]()
    for first in items:
        second: Any = next(items, None)
        found = second if is_array(second) else [next(items, None)]
        last = len(found) - 1 + first if is_array(second) and is_natural(first) else second
        if not is_natural(first) or not is_natural(last) or not all(is_number(resolve(each)) for each in found):
            raise NotPlain("a font has odd widths")
        ranges.append((first, last))
    return any(one[1] >= other[0] for one, other in pairwise(sorted(ranges)))


def _embedded(descriptor: Dictionary | None, resolve: Resolve) -> bool:
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


def _composite(font: Dictionary, resolve: Resolve) -> Remarks:
    if not _has(font, b"/DescendantFonts", b"/Encoding"):
        raise NotPlain("a composite font lacks an entry")
    (descendant,) = resolve(font[b"/DescendantFonts"])
    descendant = resolve(descendant)
    if not is_dictionary(descendant):
        raise NotPlain("a composite font is made of no font")
    check_entries("a font", descendant, _DESCENDANT, resolve)
    if not _has(descendant, b"/Subtype", b"/CIDSystemInfo"):
        raise NotPlain("a font lacks an entry")
    embedded = _embedded(resolve(descendant.get(b"/FontDescriptor")), resolve)
    encoding, mapped = resolve(font[b"/Encoding"]), resolve(descendant.get(b"/CIDToGIDMap"))
    if mapped is not None and resolve(descendant[b"/Subtype"]) != b"/CIDFontType2":
        raise NotPlain("a font has a map of glyphs that only others may have")
    if not embedded:
        return frozenset({"font_not_embedded"})
    remarks = {"font_map"} if isinstance(mapped, PdfStream) else set[str]()
    if _are_told_twice(resolve(descendant.get(b"/W")), resolve):
        remarks.add("font_widths")
    program = _program(resolve(descendant[b"/Subtype"]), resolve(descendant[b"/FontDescriptor"]), resolve)
    if program is None:
        remarks.add("font_program")
    elif program.read(0, 4) in _OPENTYPE and _names(program) is None:  # by their numbers, or by its own list of them
        remarks.add("font_maps")
    if encoding not in (b"/Identity-H", b"/Identity-V"):
        remarks.add("font_encoding")
    return frozenset(remarks)


def _has(entries: Dictionary, *keys: bytes) -> bool:
    return all(key in entries for key in keys)
