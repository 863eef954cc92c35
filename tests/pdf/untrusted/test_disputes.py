"""What other readers may show differently from PDFium is told, and refused over text. Poppler is the other reader."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pikepdf
import pytest
from pikepdf import Dictionary, Name
from PIL import Image, ImageChops

from benchmarks.corpus.renderers import Poppler
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import inspect
from tests import independent
from tests.pdf.pairs import ShownByService
from tests.pdf.pdf_factory import HELVETICA, Stream, paper, text

AREA = (100, 290, 200, 330)
BACKGROUND = (230, 255, 230)
_GROUND = "0.9 1 0.9 rg 0 0 600 900 re f 0 g "
_QUADS = "/QuadPoints[100 330 200 330 100 290 200 290]"
_NEEDED = {
    **dict.fromkeys(("Polygon", "PolyLine"), "/Vertices[100 290 200 290 150 330]"),
    **dict.fromkeys(("Highlight", "Underline", "Squiggly", "StrikeOut"), _QUADS),
    **{"FileAttachment": "/FS(a)/Name/Tag", "Sound": "/Sound<<>>", "Movie": "/Movie<<>>"},
}
_SUBTYPES = (
    "Text", "Link", "FreeText", "Line", "Square", "Circle", "Polygon", "PolyLine", "Highlight", "Underline",
    "Squiggly", "StrikeOut", "Stamp", "Caret", "Ink", "Popup", "FileAttachment", "Sound", "Movie", "Screen",
    "PrinterMark", "TrapNet", "Watermark", "3D", "Redact", "RichMedia", "Projection", "Unheard",
)  # fmt: skip
_LOOK = {"N": Stream("0 0 1 rg 0 0 100 40 re f", Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 100, 40])}
_FIELDS = {
    "text field": "/FT/Tx",
    "list": "/FT/Ch/Opt[(one)(two)]",
    "check box": "/FT/Btn",
    "radio button": "/FT/Btn/Ff 32768",
    "push button": "/FT/Btn/Ff 65536",
    "signature": "/FT/Sig",
    "no kind of field": "",
}
_LOOKS = {
    "": "",
    " with a value": "/V(one)/DA(/Helv 12 Tf 0 g)",
    " with a background": "/MK<</BG[1 0 0]>>",
    " with a border": "/MK<</BC[0 0 1]>>/BS<</W 3>>",
    " with an empty /AP": "/AP<<>>/MK<</BG[1 0 0]>>",
    " with an appearance": "/APN 1",
    " with an appearance and a background": "/APN 1/MK<</BG[1 0 0]>>",
}
ANNOTATIONS: dict[str, str] = {
    "line": "/Subtype/Line/L[100 300 200 320]/C[1 0 0]",
    "white line": "/Subtype/Line/L[100 310 200 310]/C[1 1 1]/BS<</W 20>>",
    "polygon": "/Subtype/Polygon/Vertices[100 290 200 290 150 330]/C[1 0 0]",
    "white polygon": "/Subtype/Polygon/Vertices[100 290 200 290 200 330 100 330]/IC[1 1 1]",
    "polyline": "/Subtype/PolyLine/Vertices[100 290 200 290 150 330]/C[1 0 0]",
    "stamp": "/Subtype/Stamp/Name/Draft",
    "note": "/Subtype/Text/Contents(a)",
    "text": "/Subtype/FreeText/DA(/Helv 12 Tf 0 0 1 rg)/Contents(hello)",
    "attachment": "/Subtype/FileAttachment/FS(a)/Name/Tag",
    "square": "/Subtype/Square/C[1 0 0]/IC[1 1 1]",
    "square with a margin": "/Subtype/Square/C[1 0 0]/IC[1 1 1]/RD[10 10 10 10]",
    "circle": "/Subtype/Circle/C[1 0 0]",
    "ink": "/Subtype/Ink/InkList[[100 290 150 330 200 290]]/C[1 0 0]",
    "ink of no width": "/Subtype/Ink/InkList[[100 290 150 330 200 290]]/BS<</W 0>>",
    "highlight": f"/Subtype/Highlight{_QUADS}/C[1 1 0]",
    "dark highlight": f"/Subtype/Highlight{_QUADS}/C[0 0 0]",
    "highlight without a colour": f"/Subtype/Highlight{_QUADS}",
    "turned highlight": "/Subtype/Highlight/QuadPoints[120 340 220 330 100 290 200 280]/C[1 1 0]",
    "squiggly": f"/Subtype/Squiggly{_QUADS}/C[1 0 0]",
    "caret": "/Subtype/Caret/C[1 0 0]",
    "redaction": f"/Subtype/Redact/IC[1 0 0]{_QUADS}",
    "empty /AP": "/Subtype/Square/C[1 0 0]/AP<<>>",
    "popup": "/Subtype/Popup/Open true",
    **{f"{name} with an appearance": f"/Subtype/{name}/APN 1{_NEEDED.get(name, '')}" for name in _SUBTYPES},
    **{f"hidden {name}": f"/Subtype/{name}/APN 1/F 2" for name in ("Stamp", "Popup", "Polygon")},
    **{f"{name} without what it needs": f"/Subtype/{name}/APN 1" for name in _NEEDED},
    **{
        f"{kind}{look}": f"/Subtype/Widget/T(a){entries}{more}"
        for kind, entries in _FIELDS.items()
        for look, more in _LOOKS.items()
    },
}
BORDERS = {
    "thick and white": "/Border[0 0 9]/C[1 1 1]",
    "by style": "/BS<</W 9>>",
    "by style against the entry": "/BS<</W 0>>/Border[0 0 9]",
}


def annotated(entries: str, *words: str, rect: tuple[float, ...] = AREA, form: str = "") -> bytes:
    """A page with one annotation; ``/APN`` stands for a blue appearance. ``words``: contents of the page."""
    annotation: Any = pikepdf.Object.parse(f"<<{entries}>>".encode())
    found = {"Rect": rect, **{key: value for key, value in annotation.items() if key != "/APN"}}
    if "/APN" in annotation:
        found["AP"] = _LOOK
    fonts = "/DR<</Font<</Helv<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"

    def list_field(document: pikepdf.Pdf) -> None:
        if annotation.get("/Subtype") == "/Widget":
            document.Root.AcroForm = pikepdf.Object.parse(f"<<{fonts}{form}>>".encode())
            document.Root.AcroForm.Fields = document.pages[0].obj.Annots

    return paper(_GROUND + " ".join(words), annotations=[found], prepare=list_field)


def in_a_layer_that_is_off() -> bytes:
    def put(document: pikepdf.Pdf) -> None:
        layer = document.make_indirect(Dictionary(Type=Name.OCG, Name="layer"))
        document.Root.OCProperties = Dictionary(OCGs=[layer], D=Dictionary(OFF=[layer]))
        document.pages[0].obj.Annots[0].OC = layer

    return paper(_GROUND, annotations=[{"Subtype": Name.Stamp, "Rect": AREA, "AP": _LOOK}], prepare=put)


def drawn_by(owner: str, contents: str) -> bytes:
    """A page that draws ``contents`` itself, in a form, or in the appearance of a stamp, as ``owner`` says."""
    whole = (0, 0, 595, 842)
    known = {"Font": {"F1": HELVETICA}}
    form = Stream(contents, Type=Name.XObject, Subtype=Name.Form, BBox=whole, Resources=known)
    if owner == "form":
        return paper("/X Do", resources={"XObject": {"X": form}})
    stamp = {"Subtype": Name.Stamp, "Rect": whole, "AP": {"N": form}}
    return paper(contents) if owner == "page" else paper("", annotations=[stamp])


LOST = {
    "after a surplus Q": text("kept", 100, 500) + "Q " + text("lost", 100, 300),
    "after a surplus Q, with decoys": "% q\n/q gs " + text("( q )", 100, 500) + "Q " + text("lost", 100, 300),
    "in a missing font": text("kept", 100, 500) + text("lost", 100, 300).replace("/F1", "/F9"),
}
_LINE = "100 300 m 200 300 l S "
MALFORMED = {
    "too few colours": "1 0 0 rg 0 1 rg " + text("a", 100, 300),
    "no grey": "1 g g " + text("a", 100, 300),
    "a name for a colour": "1 0 0 rg /a 0 0 rg " + text("a", 100, 300),
    "no width": "5 w w " + _LINE,
    "dashes that are none": "[(a)] 0 d " + _LINE,
    "a corner too few": "100 300 50 re f ",
    "no string": "BT /F1 12 Tf 100 300 Td Tj (a) Tj ET ",
    "two points": "BT /F1 12 Tf 1.0.0 300 Td (a) Tj ET ",
    "two minuses": "BT /F1 12 Tf --100 300 Td (a) Tj ET ",
    "a minus within": "BT /F1 12 Tf 100-3 300 Td (a) Tj ET ",
    "an exponent": "BT /F1 12 Tf 1e2 300 Td (a) Tj ET ",
    "an operator before its number": "1 foo 2 rg " + text("a", 100, 300),
    "an image without an end": text("kept", 100, 500) + "q 400 0 0 400 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x Q ",
    "an image without data": text("kept", 100, 500) + "BI /W 1 EI " + text("a", 100, 300),
    "the beginning of an image": text("kept", 100, 500) + "BI " + text("a", 100, 300),
}
"""Contents that readers draw differently."""
CUT_OFF = {
    "an open dictionary": text("kept", 100, 500) + "<< " + text("lost", 100, 300),
    "an open dictionary of marks": text("kept", 100, 500) + "/P << /A 1 BDC " + text("lost", 100, 300) + "EMC ",
}
"""Contents in which other readers see nothing after what is opened."""
KEPT = {
    "balanced": "q " + text("a", 100, 300) + "Q",
    "surplus Q at the end": text("a", 100, 300) + "Q",
    "a Q in a string": text("Q Q Q", 100, 300),
    "an inline image": "q 9 0 0 9 9 9 cm BI /W 2 /H 2 /BPC 8 /CS /G ID Q Q  EI Q " + text("a", 100, 300),
    "more operands than needed": "1 2 3 0 0 0 rg " + text("a", 100, 300),
    "a point for a number": ". .5 - rg " + text("a", 100, 300),
    "too few colours at the end": text("a", 100, 300) + "0 1 rg ",
    "words that nobody knows": "foo " + text("a", 100, 300),
    "an image whose data touches its end": "BI /W 1 /H 1 /BPC 8 /CS /G ID xEI " + text("a", 100, 300),
    "the names of an image in a string": text("BI", 100, 300) + text("<<", 100, 400),
    "an escaped name": text("a", 100, 300).replace("/F1", "/F#31"),
}


def in_a_composite_font(descendants: str) -> bytes:
    """A page with words in a composite font; ``descendants``: the entry that names the fonts it is made of."""
    font = f"<</Type/Font/Subtype/Type0/BaseFont/Helvetica/Encoding/Identity-H{descendants}>>"
    fonts = {"F2": pikepdf.Object.parse(font.encode())}
    return paper(_GROUND + text("lost", 100, 300).replace("/F1", "/F2"), resources={"Font": fonts})


_NEAR = 12  # pixels of about a point: how far apart two readers may draw the same edge
_PALE = 40  # of 255: PDFium's own frame around a button without a state is paler
_SIZE = (595.0, 842.0)
_OWNERS = ("page", "form", "appearance")
_WORDS = text("I pay 1,000 EUR", 105, 305)


def told(pdf: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = inspect(pdf, page_limit=9).preflight["drawn_differently"]
    return found


def reason(pdf: bytes) -> str:
    try:
        return f"told: {len(told(pdf))}"
    except PdfRefused as refused:
        return refused.reason


def drawn(pdf: bytes) -> tuple[Any, Any]:
    """Return where PDFium and poppler draw an annotation, in pixels of the picture."""
    independent.need("pdftoppm", "poppler-utils")
    pictures = (reader.images(pdf, [0])[0] for reader in (ShownByService([_SIZE]), Poppler()))
    first, other = (None if picture is None else _ink(picture) for picture in pictures)
    return first, other


def _ink(picture: Image.Image) -> Any:
    ground = Image.new("RGB", picture.size, BACKGROUND)
    return ImageChops.difference(picture, ground).convert("L").point(lambda value: 255 * (value > _PALE)).getbbox()


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return all(abs(a - b) <= _NEAR for a, b in zip(one, other, strict=True))


_OWN_TO_A_READER = {("signature with an appearance", "/NeedAppearances true")}
"""Poppler leaves out the appearance of a signature where a form asks for new ones; others do not."""
_FIRST_ANEW = ("signature", "text field with a value")
_ANEW = [
    pytest.param(name, "/NeedAppearances true", marks=() if name.startswith(_FIRST_ANEW) else pytest.mark.thorough)
    for name, entries in ANNOTATIONS.items()
    if "/Widget" in entries
]


@pytest.mark.parametrize(("name", "form"), [*((name, "") for name in ANNOTATIONS), *_ANEW])
def test_whatever_readers_draw_differently_is_told(name: str, form: str) -> None:
    """It is also refused where it lies over text."""
    entries = ANNOTATIONS[name]
    pdf = annotated(entries, form=form)
    one, other = drawn(pdf)
    places = told(pdf)
    assert _same(one, other) or places or (name, form) in _OWN_TO_A_READER, (one, other)
    over_text = reason(annotated(entries, _WORDS, form=form))
    if not places:
        assert over_text == "told: 0"
    elif name == "note":  # PDFium shows an icon, too
        assert over_text == "told: 1"
    else:
        assert over_text == ("form_field_over_text" if "/Widget" in entries else "annotation_over_text")


def test_the_place_is_that_of_the_annotation() -> None:
    line = annotated("/Subtype/Line/L[50 300 300 320]/C[1 0 0]", rect=(100, 290, 200, 330))
    assert told(line) == [
        {"page_number": 1, "x": 50.0, "y": 290.0, "width": 250.0, "height": 40.0, "what": "annotation"}
    ]


def test_the_sentence_names_page_and_annotation() -> None:
    with pytest.raises(PdfRefused) as caught:
        inspect(annotated(ANNOTATIONS["white polygon"], _WORDS), page_limit=1)
    assert caught.value.facts == {"page": 1, "type": "Polygon"}
    assert caught.value.message.startswith("On page 1 an annotation (Polygon) lies over text, and readers draw it")


def _judged() -> Iterator[tuple[str, bytes, str]]:
    alike = ("square", "circle", "ink", "highlight", "Stamp with an appearance", "text field with a value", "popup")
    for name in alike:
        yield name, annotated(ANNOTATIONS[name], _WORDS), "told: 0"
    stripes = " ".join(f"{90 + 6 * each} 280 3 60 re f" for each in range(20))  # a scan may be text all over
    yield "over a scan", annotated(ANNOTATIONS["white polygon"], stripes), "annotation_over_text"
    for name, entries in BORDERS.items():
        beneath = text("1,000", 98, 288)
        yield f"border {name}", annotated(f"/Subtype/Link{entries}", beneath), "link_border_over_text"
        yield f"hidden border {name}", annotated(f"/Subtype/Link{entries}/F 2", beneath), "told: 0"
    minus = text("-", 150, 288.2, 8)
    yield "thin border over a minus", annotated("/Subtype/Link/C[1 1 1]", minus), "link_border_over_text"
    # Borders as LaTeX makes them: a point away from the words, and a point wide, which is also the default.
    words = text("See chapter 12", 101, 300)
    for border in ("", "/Border[0 0 1]/C[1 0 0]", "/Border[0 0 0]", "/BS<</W 0>>", "/Border[0 0 1]/C[]"):
        link = annotated(f"/Subtype/Link{border}", words, rect=(99, 295, 185, 311))
        yield f"link with {border}", link, "told: 0"
    for owner, name in product(_OWNERS, KEPT):
        yield f"{name} in the {owner}", drawn_by(owner, KEPT[name]), "told: 0"


def test_what_all_draw_alike_is_not_told_and_what_hides_text_is_refused() -> None:
    assert {name: told for name, pdf, expected in _judged() if (told := reason(pdf)) != expected} == {}


def test_an_annotation_in_a_layer_that_is_off_is_told() -> None:
    one, other = drawn(in_a_layer_that_is_off())
    assert one and not other
    assert reason(in_a_layer_that_is_off()) == "told: 1"


@pytest.mark.parametrize("owner", _OWNERS)
@pytest.mark.parametrize("name", MALFORMED | LOST | CUT_OFF)
def test_contents_that_others_draw_otherwise_are_written_anew_or_refused(owner: str, name: str) -> None:
    """What is written anew looks the same in PDFium and poppler."""
    pdf = drawn_by(owner, (MALFORMED | LOST | CUT_OFF)[name])
    try:
        prepared = inspect(pdf, page_limit=1).prepared
    except PdfRefused as refused:
        assert refused.reason == "shown_differently"
        return
    assert prepared
    one, other = drawn(prepared)
    assert _same(one, other), (one, other)


@pytest.mark.parametrize("name", ["after a surplus Q", "in a missing font"])
def test_the_same_words_are_there_when_contents_are_written_anew(name: str) -> None:
    pdf = drawn_by("page", LOST[name])
    prepared = inspect(pdf, page_limit=1).prepared
    assert prepared and drawn(pdf)[0] == drawn(prepared)[0]


@pytest.mark.parametrize("descendants", ["", "/DescendantFonts[]", "/DescendantFonts[null]", "/DescendantFonts[<<>>]"])
def test_words_in_a_composite_font_of_no_font_are_refused(descendants: str) -> None:
    """PDFium shows none of the words, and other readers do."""
    pdf = in_a_composite_font(descendants)
    one, other = drawn(pdf)
    assert one is None and other is not None
    assert reason(pdf) == "shown_differently"


def test_a_page_with_very_many_places_has_one_for_all() -> None:
    lines = [(each, 100, each + 5, 110) for each in range(99)]
    rows = [{"Subtype": Name.Line, "Rect": line, "L": line} for line in lines]
    (place,) = told(paper("", annotations=rows))
    assert (place["x"], place["width"]) == (0, 103)
