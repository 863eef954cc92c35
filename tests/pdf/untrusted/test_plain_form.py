"""What is plain is sealed as it is; for each thing that is not, there is a file that is otherwise plain."""

import pytest

from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import PlainForm, check_plain_form
from paraph.pdf.untrusted.jobs.upload_checks.values import NotPlain
from tests.pdf.odd_files import CLASSES, odd_file
from tests.pdf.odd_files.papers import TREE, Place, Raw, contents_number, filled, page, page_number, promise

_DRAWN, _WITHIN, _ANNOTATION = 40, 41, 42
_FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]"
_PICTURE = b"/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray"
_TYPE3 = b"/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[1 0 0 1 0 0]/CharProcs<</a %d 0 R>>" % _WITHIN
_TWO = b"/ASCIIHexDecode/ASCII85Decode"
_PATTERN = b"/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep 9/YStep 9/Resources<<>>"


def plain(pdf: bytes) -> PlainForm:
    return check_plain_form(PdfReader(pdf), scanned=False)


def with_page(entries: bytes = b"", contents: bytes = b"", **others: bytes) -> bytes:
    """A page with ``entries``, those of its resources before a bar; ``others``: bodies of objects by their numbers."""
    raw = filled(Raw(), [contents or promise(0)])
    raw.put(page_number(0), page(0, entries))
    for number, body in others.items():
        raw.put(int(number[1:]), body)
    return bytes(raw.close())


def without(key: bytes, entries: bytes = b"") -> bytes:
    raw = filled(Raw(), [promise(0) + b"\n"])
    return bytes(raw.put(page_number(0), page(0).replace(key, entries)).close())


def drawing(category: bytes, contents: bytes, entries: bytes, data: bytes | None = b"", within: bytes = b"") -> bytes:
    """A page that draws with an object: a stream, or a dictionary if ``data`` is None."""
    raw = filled(Raw(), [promise(0) + b" q " + contents + b" Q"])
    raw.put(page_number(0), page(0, b"/%b<</X %d 0 R>>|" % (category, _DRAWN)))
    raw.stream(_WITHIN, within, _FORM)
    if data is None:
        return bytes(raw.put(_DRAWN, b"<<%b>>" % entries).close())
    return bytes(raw.stream(_DRAWN, data, entries).close())


def form(entries: bytes = _FORM, data: bytes = b"1 g") -> bytes:
    return drawing(b"XObject", b"/X Do", entries, data)


def image(entries: bytes) -> bytes:
    return drawing(b"XObject", b"/X Do", entries, b"a")


def font(entries: bytes, within: bytes = b"9 0 d0 0 0 9 9 re f") -> bytes:
    raw = filled(Raw(), [b"BT /F2 9 Tf (a) Tj ET"])
    raw.put(page_number(0), page(0).replace(b"/F1 3 0 R", b"/F2 %d 0 R" % _DRAWN))
    raw.put(_DRAWN, b"<</Type/Font%b>>" % entries)
    return bytes(raw.stream(_WITHIN, within).close())


def state(entries: bytes) -> bytes:
    return drawing(b"ExtGState", b"/X gs", b"/Type/ExtGState" + entries, None)


def annotation(entries: bytes) -> bytes:
    return with_page(b"/Annots[<</Type/Annot%b>>]" % entries, _41=b"<<>>")


def nested(depth: int) -> bytes:
    raw = filled(Raw(), [promise(0) + b" /X Do"])
    raw.put(page_number(0), page(0, b"/XObject<</X %d 0 R>>|" % _DRAWN))
    for level in range(depth):
        within = b"/Resources<</XObject<</X %d 0 R>>>>" % (_DRAWN + level + 1) if level < depth - 1 else b""
        raw.stream(_DRAWN + level, b"/X Do" if within else b"1 g", _FORM + within)
    return bytes(raw.close())


def packed(*, twice: bool = False, count: int = 2, index: int = 0) -> bytes:
    """Two objects in an object stream."""
    raw = filled(Raw(), [promise(0)])
    body = page(0)
    heads = b"%d 0 %d %d " % (page_number(0), page_number(0) if twice else _WITHIN, len(body) + 1)
    entries = b"/Type/ObjStm/N %d/First %d" % (count, len(heads))
    raw.stream(_DRAWN, heads + body + b"\n<<>>\n", entries)
    raw.places[page_number(0)] = Place(_DRAWN, index, packed=True)
    return bytes(raw.close())


PLAIN = {
    "a page": with_page(),
    "names with escapes": with_page(b"/Note/a#20b#c3#a9"),
    "a page without contents": without(b"/Contents %d 0 R" % contents_number(0)),
    "contents of several streams": without(b"%d 0 R/Res" % contents_number(0), b"[5 0 R 5 0 R]/Res"),
    "a form": form(_FORM + b"/Matrix[1 0 0 1 0 0]/Resources<<>>/Group<</S/Transparency/I true>>"),
    "a form of a comment": form(data=b"%DSBlank"),
    "a box between other corners": form(_FORM.replace(b"[0 0 9 9]", b"[9 9 0 0]")),
    "an image": image(_PICTURE + b"/Decode[1 0]/Interpolate true/Mask[0 0]"),
    "a mask": image(b"/Subtype/Image/Width 1/Height 1/ImageMask true"),
    "a palette": image(_PICTURE.replace(b"/DeviceGray", b"[/Indexed/DeviceRGB 1<000000ffffff>]")),
    "a font of drawings": font(_TYPE3 + b"/Encoding<</Differences[97/a]>>/FirstChar 97/LastChar 97/Widths[9]"),
    "a font with names": font(b"/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[97/a/b 99/c]>>"),
    "a state": state(b"/LW 1/CA 0.5/BM/Multiply/SMask/None/D[[1 2]0]"),
    "an annotation": annotation(b"/Subtype/Link/Rect[0 0 9 9]/F 4/Border[0 0 0]/C[1 0 0]"),
    "fifteen forms": nested(15),
    "an object stream": packed(),
}
NOT_PLAIN = {
    "a name beyond ASCII": with_page(b"/Note\xff 1"),
    "a name with a zero": with_page(b"/Note#00 1"),
    "a name of 128 characters": with_page(b"/" + b"n" * 128 + b" 1"),
    "a key twice": with_page(b"/Contents 5 0 R"),
    "a key twice, once escaped": with_page(b"/#43ontents 5 0 R"),
    "an integer of 32 bits": with_page(b"/Note 2147483648"),
    "an integer below them": with_page(b"/Note -2147483648"),
    "a real of many digits": with_page(b"/Note 0." + b"0" * 31),
    "a real with an exponent": with_page(b"/Note 1e5"),
    "a long string": with_page(b"/Note(" + b"a" * 32_000 + b")"),
    "an object beyond the pages": with_page(_41=b"<</Note\xff 1>>"),
    "an unreadable object beyond the pages": with_page(_41=b"<</A 1/A 2>>"),
    "another parent": without(b"/Parent %d 0 R" % TREE, b"/Parent 41 0 R"),
    "no parent": without(b"/Parent %d 0 R" % TREE),
    "a page that is a node, too": with_page(b"/Count 1"),
    "no box that is inherited": with_page(b"/CropBox null"),
    "a missing box": with_page(b"/CropBox 99 0 R"),
    "a box of five": with_page(b"/CropBox[0 0 9 9 9]"),
    "a box with a reference": with_page(b"/CropBox[0 0 9 41 0 R]", _41=b"9"),
    "a turn that is none": with_page(b"/Rotate 90.0"),
    "half a turn": with_page(b"/Rotate 45"),
    "resources that are none": without(b"/Resources<<", b"/Resources null/Note<<"),
    "contents among others": without(b"%d 0 R/Res" % contents_number(0), b"[null 5 0 R]/Res"),
    "contents in a dictionary": without(b"%d 0 R/Res" % contents_number(0), b"<<>>/Res"),
    "a name that is not there": with_page(contents=b"/X Do"),
    "a font that is not there": with_page(contents=b"BT /F9 9 Tf (a) Tj ET"),
    "restored too often": with_page(contents=b"Q " + promise(0)),
    "a long string in contents": with_page(contents=b"BT /F1 9 Tf (" + b"a" * 32_001 + b") Tj ET"),
    "a filter of inline images": form(_FORM + b"/Filter/AHx", b"3120>"),
    "data elsewhere": form(_FORM + b"/F(a)"),
    "parameters of another kind": form(_FORM + b"/Filter/FlateDecode/DecodeParms<</Columns 1.0>>"),
    "parameters of one of two filters": form(_FORM + b"/Filter[%b]/DecodeParms<<>>" % _TWO, b">"),
    "a form without a box": form(_FORM.replace(b"/BBox[0 0 9 9]", b"")),
    "a form with a box of five": form(_FORM.replace(b"[0 0 9 9]", b"[0 0 9 9 9]")),
    "a matrix of five": form(_FORM + b"/Matrix[1 0 0 1 0]"),
    "a form that draws itself": form(_FORM + b"/Resources<</XObject<</X 40 0 R>>>>", b"/X Do"),
    "a form with names of the page": form(data=b"/X Do"),
    "a form that leaves marks open": form(data=b"/P BMC"),
    "PostScript": form(b"/Type/XObject/Subtype/PS"),
    "an image of many bits": image(_PICTURE.replace(b"nent 8", b"nent 7")),
    "an image without a size": image(_PICTURE.replace(b"/Width 1", b"")),
    "an image with keys of inline images": image(_PICTURE + b"/IM true"),
    "a colour space by name": image(_PICTURE.replace(b"/DeviceGray", b"/G")),
    "a colour space without its base": image(_PICTURE.replace(b"/DeviceGray", b"[/Indexed]")),
    "a profile of two colours": image(_PICTURE.replace(b"/DeviceGray", b"[/ICCBased 41 0 R]")),
    "a font of no kind": font(b"/Subtype/Own/BaseFont/A"),
    "a font without a name": font(b"/Subtype/Type1"),
    "an encoding beyond 255": font(b"/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[256/a]>>"),
    "an encoding of one code twice": font(b"/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[97/a 97/b]>>"),
    "an encoding without a code": font(b"/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[/a]>>"),
    "an unknown encoding": font(b"/Subtype/Type1/BaseFont/Helvetica/Encoding<</BaseEncoding/Own>>"),
    "widths too few": font(b"/Subtype/Type1/BaseFont/Helvetica/FirstChar 97/LastChar 99/Widths[1]"),
    "a composite of nothing": font(b"/Subtype/Type0/BaseFont/A/Encoding/Identity-H/DescendantFonts[]"),
    "a glyph without a width": font(_TYPE3 + b"/Encoding<</Differences[97/a]>>", b"0 0 9 9 re f"),
    "a state of text": state(b"/CA(1)"),
    "a cap of lines that is none": state(b"/LC 3"),
    "a pattern without steps": drawing(b"Pattern", b"/X scn", _PATTERN.replace(b"/XStep 9", b"")),
    "a shading of no kind": drawing(b"Shading", b"/X sh", b"/ShadingType 9/ColorSpace/DeviceGray", None),
    "flags with a point": annotation(b"/Subtype/Link/Rect[0 0 9 9]/F 2.0"),
    "flags by reference to a real": with_page(b"/Annots[<</Subtype/Link/Rect[0 0 9 9]/F 41 0 R>>]", _41=b"2.0"),
    "negative flags": annotation(b"/Subtype/Link/Rect[0 0 9 9]/F -2"),
    "an annotation without a place": annotation(b"/Subtype/Link"),
    "an appearance that is none": annotation(b"/Subtype/Stamp/Rect[0 0 9 9]/AP<</N 3>>"),
    "an annotation that is none": with_page(b"/Annots[null]"),
    "a field without a kind": annotation(b"/Subtype/Widget/Rect[0 0 9 9]/FT/Own"),
    "sixteen forms": nested(16),
    "an object stream with an object twice": packed(twice=True),
    "an object stream of another number": packed(count=3),
    "an object of another place in its stream": packed(index=1),
}


@pytest.mark.parametrize("pdf", PLAIN.values(), ids=PLAIN)
def test_what_is_plain_is_taken_as_it_is(pdf: bytes) -> None:
    plain(pdf)
    inspection = inspect(pdf, page_limit=1)
    assert (inspection.method, inspection.prepared) == ("incremental", None)


@pytest.mark.parametrize("pdf", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_what_is_not(pdf: bytes) -> None:
    with pytest.raises(NotPlain):
        plain(pdf)


@pytest.mark.parametrize("name", [name for name in CLASSES if name.startswith("remarks: ")])
def test_what_no_rule_decides_is_remarked(name: str) -> None:
    assert any(plain(odd_file(name, 1, turn)).remarks for turn in range(4))


def test_pages_are_remarked_one_by_one() -> None:
    entries = b"/Font<</F1 %d 0 R>>" % _DRAWN
    raw = filled(Raw(), [promise(0), promise(1), promise(2)])
    raw.put(page_number(1), page(1).replace(b"/Font<</F1 3 0 R>>", entries))
    raw.put(_DRAWN, b"<</Type/Font/Subtype/TrueType/BaseFont/Arial>>")
    assert plain(bytes(raw.close())).remarks == {1: frozenset({"font_not_embedded"})}
