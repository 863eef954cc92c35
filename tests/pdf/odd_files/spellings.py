"""Objects and contents written in ways that readers understand differently."""

import zlib
from collections.abc import Callable
from functools import partial
from random import Random

from tests.pdf.odd_files.papers import FONT, TREE, Raw, contents_number, filled, page, page_number, promise, some

_OTHER, _FORM, _STATE, _NOTE, _LOOK, _MASK = 40, 41, 42, 43, 44, 45
_BOX = b"/Type/XObject/Subtype/Form/BBox[0 0 595 842]"
_RESOURCES = b"/Resources<</Font<</F1 %d 0 R>>>>" % FONT


def names(chance: Random) -> bytes:
    """A key ending in what PDFium takes for white space, or in another odd character, beside the key it resembles."""
    kinds = [(b"/Contents", b" %d 0 R" % _OTHER), (b"/Rotate", b" 90"), (b"/CropBox", b"[0 600 595 842]")]
    key, value = chance.choice(kinds)
    character = chance.choice([b"\xff", b"\x80", b"\x85", b"\xa0", b"#ff", b"#20", b"#00"])
    raw = _two(chance)
    there = b"" if chance.random() < 0.5 else key + value
    entries = key + character + value + (there if key != b"/Contents" else b"")
    return bytes(raw.put(page_number(0), page(0, entries)).close())


def keys_twice(chance: Random) -> bytes:
    """A key that stands twice in a dictionary, or once more with an escape in it."""
    key = chance.choice([b"/Contents", b"/#43ontents", b"/Content#73"])
    raw = _two(chance)
    return bytes(raw.put(page_number(0), page(0, b"%b %d 0 R" % (key, _OTHER))).close())


def abbreviations(chance: Random) -> bytes:
    """The abbreviated keys and filters of inline images, in other streams."""
    one, other = some(chance, 2)
    data = b"%" + promise(other).replace(b"\n", b" ").hex().encode() + b">\n" + promise(one)
    entries = chance.choice([b"/F/AHx", b"/F[/AHx]", b"/Filter/AHx", b"/F/ASCIIHexDecode", b"/Filter[/AHx]/F null"])
    if b"/Filter/" in entries or b"/Filter[" in entries:
        data = promise(one).hex().encode() + b">"
    raw = filled(Raw(), [promise(one)])
    return bytes(raw.stream(contents_number(0), data, entries).close())


def abbreviated_images(chance: Random) -> bytes:
    """An image with the abbreviated keys of inline images."""
    size, usual = b"/Width 1/Height 1", b"/BitsPerComponent 8/ColorSpace/DeviceGray"
    kinds = [size + b"/BPC 8/CS/DeviceGray", size + usual + b"/IM true", b"/W 1/H 1" + usual]
    kinds += [size + usual + b"/D[1 0]", size + usual.replace(b"DeviceGray", b"G"), size + usual.replace(b"8", b"8.0")]
    raw = _with_object(chance, b"q 400 0 0 40 60 100 cm /X Do Q")
    return bytes(raw.stream(_FORM, b"\x00", b"/Type/XObject/Subtype/Image" + chance.choice(kinds)).close())


def large_numbers(chance: Random) -> bytes:
    """Numbers that some readers cannot hold: the second promise is moved or scaled by them, and back."""
    bits = [
        (b"4294967296", b"0.00000000023283064365386962890625"),
        (b"2147483648", b"0.0000000004656612873077392578125"),
    ]
    large, small = chance.choice([*bits, (b"99999999999", b".00000000001"), (b"4294967297.0", b"1")])
    one, other = some(chance, 2)
    scaled = b"q %b 0 0 1 0 0 cm %b 0 0 1 0 0 cm %b Q" % (large, small, promise(other, 680))
    moved = b"q 1 0 0 1 %b 0 cm 1 0 0 1 -%b 0 cm %b Q" % (large, large, promise(other, 680))
    return _page_of(chance, promise(one) + b"\n" + chance.choice([scaled, moved]))


def odd_numbers(chance: Random) -> bytes:
    """Numbers in the page's dictionary that some readers reject, or take for other numbers."""
    number = chance.choice([b"595.0.0", b"--595", b"+-595", b"5.95e2", b"4294967891", b"5-95", b"595."])
    raw = filled(Raw(), [promise(some(chance, 1)[0])])
    return bytes(raw.put(page_number(0), page(0, box=b"[0 0 %b 842]" % number)).close())


def nested(chance: Random) -> bytes:
    """Forms within forms: few, or more than a reader follows; or one that draws itself."""
    depth, (one, other) = chance.choice([2, 14, 20, 45]), some(chance, 2)
    raw = _with_object(chance, b"/X Do", one)
    for level in range(depth):
        inner = _FORM + 20 + level
        within = b"/Resources<</XObject<</X %d 0 R>>>>" % inner
        raw.stream(_FORM if not level else inner - 1, b"/X Do", _BOX + within)
    last = chance.choice([_BOX + _RESOURCES] * 3 + [_BOX + b"/Resources<</XObject<</X %d 0 R>>>>" % _FORM])
    data = promise(other, 680) if b"/XObject<<" not in last else b"/X Do"
    return bytes(raw.stream(_FORM + 19 + depth, data, last).close())


def long_strings(chance: Random) -> bytes:
    """A string that PDFium cuts; the words behind the cut are drawn to the left."""
    length, (one, other) = chance.choice([31_000, 32_760, 32_768, 40_000]), some(chance, 2)
    red = b"q 0 0 1 rg BT /F1 36 Tf 60 680 Td -20 Tw (%b) Tj ET Q\n" % (b" " * length + b"I_pay_%d_EUR" % other)
    return _page_of(chance, promise(one) + b"\n" + red)


def other_parents(chance: Random) -> bytes:
    """A page whose /Parent is another node than the one that lists it, with other attributes to inherit."""
    attribute = chance.choice([b"/CropBox[0 600 595 842]", b"/Rotate 90", b"/MediaBox[0 0 300 300]", b"/Resources<<>>"])
    raw = _two(chance)
    body = page(0).replace(b"/Parent %d 0 R" % TREE, b"/Parent %d 0 R" % _NOTE)
    if attribute.startswith(b"/Media"):
        body = body.replace(b"/MediaBox[0 0 595 842]", b"")
    raw.put(page_number(0), body)
    return bytes(raw.put(_NOTE, b"<</Type/Pages/Count 1/Kids[%d 0 R]%b>>" % (page_number(0), attribute)).close())


def nulls(chance: Random) -> bytes:
    """An attribute of an ancestor that is null, missing or of another kind in the page."""
    kinds = [(b"/CropBox", b"[0 600 595 842]"), (b"/Rotate", b"90"), (b"/MediaBox", b"[0 0 300 300]")]
    key, value = chance.choice(kinds)
    own = chance.choice([b" null", b" 99 0 R", b"[]", b"(a)", b"<<>>"])
    raw = filled(Raw(), [promise(some(chance, 1)[0])])
    raw.put(TREE, b"<</Type/Pages/Count 1/Kids[%d 0 R]%b %b>>" % (page_number(0), key, value))
    body = page(0, key + own)
    if key == b"/MediaBox":
        body = body.replace(b"/MediaBox[0 0 595 842]", b"")
    return bytes(raw.put(page_number(0), body).close())


def boxes(chance: Random) -> bytes:
    """Rectangles of three or five numbers, with references, or with something else among them."""
    kinds = [b"[0 0 595 842 1]", b"[0 0 595]", b"[0 0 595 %d 0 R]" % _NOTE, b"[0 0 595 (842)]", b"[595 842 0 0]"]
    box = chance.choice(kinds)
    where = chance.choice(["page", "crop", "form"])
    one, other = some(chance, 2)
    raw = _with_object(chance, b"/X Do", one)
    if where != "form":
        body = page(0, b"/XObject<</X %d 0 R>>|%b" % (_FORM, b"/CropBox" + box if where == "crop" else b""))
        raw.put(page_number(0), body.replace(b"[0 0 595 842]", box) if where == "page" else body)
    entries = _BOX.replace(b"[0 0 595 842]", box) if where == "form" else _BOX
    raw.put(_NOTE, b"842")
    return bytes(raw.stream(_FORM, promise(other, 680), entries + _RESOURCES).close())


def other_contents(chance: Random) -> bytes:
    """Contents with something among them that is no stream."""
    raw = _two(chance)
    number = contents_number(0)
    before = (b"null", b"", b"99 0 R", b"%d 0 R" % FONT, b"[%d 0 R]" % _OTHER, b"(a)")
    listed = [b"[%b %d 0 R]" % (each, number) if each else b"[%d 0 R null]" % number for each in before]
    raw.put(_NOTE, b"[null %d 0 R]" % number)
    contents = chance.choice([*listed, b"%d 0 R" % _NOTE])
    return bytes(raw.put(page_number(0), page(0, contents=contents)).close())


def flags(chance: Random) -> bytes:
    """An annotation with odd flags: one reader hides it, and another does not."""
    value = chance.choice([b"2.0", b"2.", b"%d 0 R" % _MASK, b"(2)", b"4294967298", b"-2", b"[2]", b"+2"])
    raw = filled(Raw(), [promise(some(chance, 1)[0])])
    raw.put(page_number(0), page(0, b"/Annots[%d 0 R]" % _NOTE)).put(_MASK, b"2.0")
    raw.put(_NOTE, b"<</Type/Annot/Subtype/Stamp/Rect[60 600 460 640]/F %b/AP<</N %d 0 R>>>>" % (value, _LOOK))
    return bytes(raw.stream(_LOOK, promise(some(chance, 1)[0], 680), _BOX + _RESOURCES).close())


def inline_images(chance: Random) -> bytes:
    """Words within the data of an inline image, after what looks like its end."""
    one, other = some(chance, 2)
    words = b"\nEI Q " + promise(other, 680) + b" q BI /W 1 /H 1 /BPC 8 /CS /G ID x"
    size = chance.choice([len(words), 1, len(words) + 7])
    head = b"q 40 0 0 40 60 100 cm BI /W %d /H 1 /BPC 8 /CS /G" % size
    heads = [head + each for each in (b" ID ", b" /W 1 ID ", b" /F /Fl ID " + zlib.compress(b"x"), b" /F /DCT ID ")]
    kinds = [each + words for each in (*heads, head.replace(b"/G", b"/Own") + b" ID ")]
    image = chance.choice([*kinds, b"q 40 0 0 40 60 100 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x"])
    return _page_of(chance, promise(one) + b"\n" + image + b"\nEI Q")


_SHOWN = b"BT /F1 24 Tf 60 680 Td %b Tj ET"
_ODD = {
    "text modes": [b"9 Tr", b"-1 Tr", b"3.5 Tr", b"7.0 Tr", b"5 J", b"8 j", b"[-1] 0 d"],
    "missing names": [b"/X Do", b"/G gs", b"/C cs 1 scn", b"/Pattern cs /P scn", b"/S sh", b"BT /F9 24 Tf ET"],
    "strings": [
        *(_SHOWN % each for each in (b"(I pay\r1 EUR)", b"(I pay \\4611 EUR)", b"(I pay \\91 EUR)")),
        *(_SHOWN % each for each in (b"<49207>", b"<4920zz>", b"(\\)\\\r\n)")),
    ],
    "references in contents": [
        *(b"BT /F1 24 Tf 60 680 Td [43 0 R] TJ ET", b"[43 0 R] 0 d 60 680 m 300 680 l S"),
        *(b"43 0 R w", b"/P <</A 43 0 R>> BDC EMC"),
    ],
}
"""Modes that do not exist, names that are missing from the resources of the page, strings with line ends, escapes that
overflow or wrong digits, and references to a string, which some readers resolve."""


def between(chance: Random, *, kind: str) -> bytes:
    """Two promises with something odd between them."""
    one, other = some(chance, 2)
    raw = filled(Raw(), [b"%b\nq %b %b Q" % (promise(one), chance.choice(_ODD[kind]), promise(other, 680))])
    return bytes(raw.put(_NOTE, b"(I pay)").close())


def masks(chance: Random) -> bytes:
    """A soft mask with a function that inverts it, or a transfer function in the graphics state."""
    function = b"/TR <</FunctionType 2/Domain[0 1]/C0[1]/C1[0]/N 1>>"
    masked = [b"/SMask<</S/Luminosity/G %d 0 R%b>>" % (_MASK, each) for each in (function, b"/TR/Identity")]
    state, (one, other) = chance.choice([*masked, function]), some(chance, 2)
    contents = promise(one) + b"\nq /G gs " + promise(other, 680) + b" Q"
    raw = filled(Raw(), [contents], entries=b"/ExtGState<</G %d 0 R>>|" % _STATE)
    raw.put(_STATE, b"<</Type/ExtGState%b>>" % state)
    group = b"/Group<</S/Transparency/CS/DeviceGray>>"
    return bytes(raw.stream(_MASK, chance.choice([b" ", b"1 g 0 0 595 842 re f"]), _BOX + group).close())


def glyph_names(chance: Random) -> bytes:
    """Words in a font that the reader supplies, with unusual glyph names."""
    codes = {"number": b"/uni%04X", "short": b"/u%05X", "glyph": b"/g%d", "char": b"/c%d"}
    form = chance.choice(list(codes.values()))
    different = b" ".join(b"%d %b" % (code, form % code) for code in b"Ipay1EUR")
    encoding = b"/Encoding<</Type/Encoding/Differences[%b]>>" % different
    return _in_font(chance, b"/Subtype/Type1/BaseFont/Helvetica" + encoding)


def fonts(chance: Random) -> bytes:
    """Fonts that lack an entry, or have it twice or of another kind."""
    kinds = [
        b"/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[/nine 300/one 49/two 49/three]>>",
        b"/Subtype/Type1/BaseFont/Helvetica/FirstChar 32/LastChar 200/Widths[2000 3000]",
        b"/Subtype/Type1/BaseFont/Helvetica/FirstChar 32/Widths[2000 3000]",
        b"/Subtype/Unheard/BaseFont/Helvetica",
        b"/Subtype/Type1",
        b"/Subtype/Type0/BaseFont/Helvetica/Encoding/Identity-H",
        b"/Subtype/Type0/BaseFont/Helvetica/DescendantFonts[<</Subtype/CIDFontType0/BaseFont/A/CIDToGIDMap/Identity>>]",
    ]
    return _in_font(chance, chance.choice(kinds))


def _in_font(chance: Random, font: bytes) -> bytes:
    raw = filled(Raw(), [promise(some(chance, 1)[0]) + b"\nBT /F2 24 Tf 60 680 Td (I pay 1 EUR) Tj ET"])
    raw.put(page_number(0), page(0).replace(b"/Font<<", b"/Font<</F2 %d 0 R" % _NOTE))
    return bytes(raw.put(_NOTE, b"<</Type/Font%b>>" % font).close())


def _two(chance: Random) -> Raw:
    """A page, and other contents beside its own."""
    one, other = some(chance, 2)
    return filled(Raw(), [promise(one)]).stream(_OTHER, promise(other, 680))


def _page_of(chance: Random, contents: bytes) -> bytes:
    return bytes(filled(Raw(), [contents], deflated=chance.random() < 0.5).close())


def _with_object(chance: Random, contents: bytes, which: int | None = None) -> Raw:
    """A page that draws object number ``_FORM``, which is not yet written."""
    which = some(chance, 1)[0] if which is None else which
    return filled(Raw(), [promise(which) + b"\n" + contents], entries=b"/XObject<</X %d 0 R>>|" % _FORM)


CLASSES: dict[str, Callable[[Random], bytes]] = {
    "spelling: names": names,
    "spelling: keys twice": keys_twice,
    "spelling: abbreviations": abbreviations,
    "spelling: abbreviated images": abbreviated_images,
    "spelling: large numbers": large_numbers,
    "spelling: odd numbers": odd_numbers,
    "spelling: forms within forms": nested,
    "spelling: long strings": long_strings,
    "spelling: other parents": other_parents,
    "spelling: inherited or null": nulls,
    "spelling: boxes": boxes,
    "spelling: contents of other things": other_contents,
    "spelling: flags": flags,
    "spelling: inline images": inline_images,
    **{f"spelling: {kind}": partial(between, kind=kind) for kind in _ODD},
    "spelling: fonts": fonts,
    "remarks: masks": masks,
    "remarks: names of glyphs": glyph_names,
}
