"""The fonts of a plain file (ISO 32000-1, 9.5 to 9.9), and which of them readers may still draw differently."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from fontTools.agl import AGL2UV

from paraph.pdf.structure.objects import Dictionary, PdfStream
from paraph.pdf.untrusted.jobs.upload_checks import values
from paraph.pdf.untrusted.jobs.upload_checks.font_programs import (
    embedded_program,
    finds_glyphs,
    has_numbered_glyphs,
    is_embedded,
)
from paraph.pdf.untrusted.jobs.upload_checks.values import NotPlain, Resolve, check_entries

_SIMPLE = frozenset({b"/Type1", b"/MMType1", b"/TrueType", b"/Type3"})
_FONT = {
    b"/BaseFont": values.is_name,
    **dict.fromkeys((b"/FirstChar", b"/LastChar"), values.is_natural),
    b"/Widths": values.is_array,
    **dict.fromkeys((b"/FontDescriptor", b"/CharProcs", b"/Resources"), values.is_dictionary),
    b"/Encoding": values.any_of(values.is_name, values.is_dictionary, values.is_stream),
    b"/FontBBox": values.numbers(4),
    b"/FontMatrix": values.numbers(6),
    b"/DescendantFonts": lambda value: values.is_array(value) and len(value) == 1,
}
_DESCENDANT = {
    b"/Subtype": values.one_of(b"/CIDFontType0", b"/CIDFontType2"),
    b"/BaseFont": values.is_name,
    **dict.fromkeys((b"/CIDSystemInfo", b"/FontDescriptor"), values.is_dictionary),
    b"/DW": values.is_number,
    **dict.fromkeys((b"/W", b"/W2"), values.is_array),
    b"/DW2": values.numbers(2),
    b"/CIDToGIDMap": values.any_of(values.one_of(b"/Identity"), values.is_stream),
}
_ENCODING = {b"/BaseEncoding": values.is_name, b"/Differences": values.is_array}
_ENCODINGS = frozenset({b"/WinAnsiEncoding", b"/MacRomanEncoding", b"/StandardEncoding", b"/MacExpertEncoding"})
_OF_LATIN_LETTERS = _ENCODINGS - {b"/MacExpertEncoding"}
_PICTOGRAMS = (b"/ZapfDingbats", b"/Symbol")
_STYLES = (b"", b"-Bold", b"-Oblique", b"-BoldOblique")
_STANDARD = frozenset(  # the fonts that every reader has (9.6.2.2)
    {
        *(family + style for family in (b"/Courier", b"/Helvetica") for style in _STYLES),
        *(b"/Times" + style for style in (b"-Roman", b"-Bold", b"-Italic", b"-BoldItalic")),
        *_PICTOGRAMS,
    }
)
_OF_LATIN = ("fi", "fl", "onesuperior", "twosuperior", "threesuperior", ".notdef")
_GLYPHS = frozenset(b"/" + name.encode() for name in (*AGL2UV, *_OF_LATIN))
"""Names that every reader knows: those of the Adobe Glyph List for New Fonts, and of ISO 32000-1, annex D."""
_CODES = 256
_SYMBOLIC = 4
_ROUNDED = 0.02  # of the widest glyph
Remarks = frozenset[str]
"""Words for what is plain in a file and may yet be drawn differently."""
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
    embedded = is_embedded(descriptor, resolve)
    if isinstance(encoding, PdfStream):
        raise NotPlain("a font has an odd encoding")
    names = set(differences(encoding, resolve).values()) if values.is_dictionary(encoding) else set[bytes]()
    base = resolve(encoding.get(b"/BaseEncoding")) if values.is_dictionary(encoding) else encoding
    is_expert = base is not None and base not in _OF_LATIN_LETTERS
    if not embedded:
        name = resolve(font[b"/BaseFont"])
        remarks = {"standard_widths"} if has_widths else set[str]()
        if name not in _STANDARD:
            remarks = {"font_not_embedded"}
        if name not in _PICTOGRAMS and not names <= _GLYPHS:
            remarks.add("glyph_names")
        if is_expert or (name in _PICTOGRAMS and (names or base)):
            remarks.add("font_encoding")
        return frozenset(remarks)
    symbolic = bool(resolve(descriptor.get(b"/Flags", 0)) & _SYMBOLIC)
    found = set[str]() if has_widths or resolve(font[b"/BaseFont"]) in _STANDARD else {"font_widths"}
    if (subtype == b"/TrueType" and (names or bool(encoding) == symbolic)) or is_expert:
        found.add("font_encoding")
    program = embedded_program(subtype, descriptor, resolve)
    if program is None:
        found.add("font_program")
    elif not finds_glyphs(subtype, program, names, symbolic=symbolic):
        found.add("font_maps")
    return frozenset(found)


def _of_drawings(font: Dictionary, encoding: Any, resolve: Resolve, *, has_widths: bool) -> Remarks:
    if not values.is_dictionary(encoding) or not _has(font, b"/CharProcs", b"/FontMatrix"):
        raise NotPlain("a font of drawings lacks an entry")
    found = set[str]()
    if (resolve(font[b"/CharProcs"]).keys() - set(differences(encoding, resolve).values())) & _GLYPHS:
        found.add("glyph_codes")
    matrix = [float(resolve(each)) for each in resolve(font[b"/FontMatrix"])]
    # Drawings stand where all readers put them if they are neither turned nor moved. Chrome writes mirrored ones.
    scales_alone = matrix[0] > 0 != matrix[3] and not any((*matrix[1:3], *matrix[4:]))
    if not has_widths or b"/FontBBox" not in font or not scales_alone:
        found.add("glyph_box")
    return frozenset(found)


def differences(encoding: Dictionary, resolve: Resolve) -> dict[int, bytes]:
    """Return the names of the glyphs that an encoding has in place of others, by their codes. Raise NotPlain."""
    check_entries("an encoding", encoding, _ENCODING, resolve)
    base = resolve(encoding.get(b"/BaseEncoding"))
    if base is not None and base not in _ENCODINGS:
        raise NotPlain("an encoding has an unknown base")
    code, names = -1, dict[int, bytes]()
    for item in resolve(encoding.get(b"/Differences")) or ():
        if type(item) is int:
            code = item
            continue
        if not values.is_name(item) or not 0 <= code < _CODES or code in names:
            raise NotPlain("an encoding has odd differences")
        names[code] = item
        code += 1
    return names


def advance_alike(font: Dictionary, advances: Mapping[bytes, float], resolve: Resolve) -> bool:
    """Return whether a font of drawings gives each glyph that has a code the width that the glyph begins with, which
    other readers use. ``advances``: the latter widths, by the names of glyphs."""
    widths, first = resolve(font.get(b"/Widths")) or [], resolve(font.get(b"/FirstChar")) or 0
    told = {code: float(resolve(each)) for code, each in enumerate(widths, first)}
    spare = _ROUNDED * max(map(abs, advances.values()), default=0)
    used = [each for each in differences(resolve(font[b"/Encoding"]), resolve).items() if each[1] in advances]
    return all(abs(told.get(code, math.inf) - advances[name]) <= spare for code, name in used)


def _widths(font: Dictionary, resolve: Resolve) -> bool:
    """Return whether the font has widths. Raise NotPlain."""
    widths, first, last = (resolve(font.get(key)) for key in (b"/Widths", b"/FirstChar", b"/LastChar"))
    if widths is None:
        return False
    if not all(values.is_number(resolve(each)) for each in widths):
        raise NotPlain("a font has odd widths")
    if first is None or last is None or len(widths) != last - first + 1:
        raise NotPlain("a font has another number of widths than it says")
    return True


def _are_given_twice(widths: Any, resolve: Resolve) -> bool:
    """Return whether a composite font says the width of a glyph twice (9.7.4.3). Raise NotPlain."""
    items, ranges = map(resolve, widths or ()), list[tuple[int, int]]()
    for first in items:
        second: Any = next(items, None)
        found = second if values.is_array(second) else [next(items, None)]
        last = len(found) - 1 + first if values.is_array(second) and values.is_natural(first) else second
        are_numbers = all(values.is_number(resolve(each)) for each in found)
        if not values.is_natural(first) or not values.is_natural(last) or not are_numbers:
            raise NotPlain("a font has odd widths")
        ranges.append((first, last))
    return any(one[1] >= other[0] for one, other in pairwise(sorted(ranges)))


def _composite(font: Dictionary, resolve: Resolve) -> Remarks:
    if not _has(font, b"/DescendantFonts", b"/Encoding"):
        raise NotPlain("a composite font lacks an entry")
    (descendant,) = resolve(font[b"/DescendantFonts"])
    descendant = resolve(descendant)
    if not values.is_dictionary(descendant):
        raise NotPlain("a composite font is made of no font")
    check_entries("a font", descendant, _DESCENDANT, resolve)
    if not _has(descendant, b"/Subtype", b"/CIDSystemInfo"):
        raise NotPlain("a font lacks an entry")
    embedded = is_embedded(resolve(descendant.get(b"/FontDescriptor")), resolve)
    encoding, mapped = resolve(font[b"/Encoding"]), resolve(descendant.get(b"/CIDToGIDMap"))
    if mapped is not None and resolve(descendant[b"/Subtype"]) != b"/CIDFontType2":
        raise NotPlain("a font has a map of glyphs that only others may have")
    if not embedded:
        return frozenset({"font_not_embedded"})
    remarks = {"font_map"} if isinstance(mapped, PdfStream) else set[str]()
    if _are_given_twice(resolve(descendant.get(b"/W")), resolve):
        remarks.add("font_widths")
    program = embedded_program(resolve(descendant[b"/Subtype"]), resolve(descendant[b"/FontDescriptor"]), resolve)
    if program is None:
        remarks.add("font_program")
    elif has_numbered_glyphs(program):
        remarks.add("font_maps")
    if encoding not in (b"/Identity-H", b"/Identity-V"):
        remarks.add("font_encoding")
    return frozenset(remarks)


def _has(entries: Dictionary, *keys: bytes) -> bool:
    return all(key in entries for key in keys)
