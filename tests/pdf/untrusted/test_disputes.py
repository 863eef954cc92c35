"""What other readers may show differently from PDFium is told, and refused over text. Poppler is the other reader."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from pikepdf import Name
from PIL import Image, ImageChops

from benchmarks.corpus.renderers import Poppler
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import inspect
from tests import independent
from tests.pdf.looks import ShownByService
from tests.pdf.pdf_factory import paper, text
from tests.pdf.untrusted import disputed_files as files

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
    ground = Image.new("RGB", picture.size, files.BACKGROUND)
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
    for name, entries in files.ANNOTATIONS.items()
    if "/Widget" in entries
]


@pytest.mark.parametrize(("name", "form"), [*((name, "") for name in files.ANNOTATIONS), *_ANEW])
def test_whatever_readers_draw_differently_is_told(name: str, form: str) -> None:
    """It is also refused where it lies over text."""
    entries = files.ANNOTATIONS[name]
    pdf = files.annotated(entries, form=form)
    one, other = drawn(pdf)
    places = told(pdf)
    assert _same(one, other) or places or (name, form) in _OWN_TO_A_READER, (one, other)
    over_text = reason(files.annotated(entries, _WORDS, form=form))
    if not places:
        assert over_text == "told: 0"
    elif name == "note":  # PDFium shows an icon, too
        assert over_text == "told: 1"
    else:
        assert over_text == ("form_field_over_text" if "/Widget" in entries else "annotation_over_text")


def test_the_place_is_that_of_the_annotation() -> None:
    line = files.annotated("/Subtype/Line/L[50 300 300 320]/C[1 0 0]", rect=(100, 290, 200, 330))
    assert told(line) == [
        {"page_number": 1, "x": 50.0, "y": 290.0, "width": 250.0, "height": 40.0, "what": "annotation"}
    ]


def test_the_sentence_names_page_and_annotation() -> None:
    with pytest.raises(PdfRefused) as caught:
        inspect(files.annotated(files.ANNOTATIONS["white polygon"], _WORDS), page_limit=1)
    assert caught.value.facts == {"page": 1, "type": "Polygon"}
    assert caught.value.message.startswith("On page 1 an annotation (Polygon) lies over text, and readers draw it")


def _judged() -> Iterator[tuple[str, bytes, str]]:
    alike = ("square", "circle", "ink", "highlight", "Stamp with an appearance", "text field with a value", "popup")
    for name in alike:
        yield name, files.annotated(files.ANNOTATIONS[name], _WORDS), "told: 0"
    stripes = " ".join(f"{90 + 6 * each} 280 3 60 re f" for each in range(20))  # a scan may be text all over
    yield "over a scan", files.annotated(files.ANNOTATIONS["white polygon"], stripes), "annotation_over_text"
    for name, entries in files.BORDERS.items():
        beneath = text("1,000", 98, 288)
        yield f"border {name}", files.annotated(f"/Subtype/Link{entries}", beneath), "link_border_over_text"
        yield f"hidden border {name}", files.annotated(f"/Subtype/Link{entries}/F 2", beneath), "told: 0"
    minus = text("-", 150, 288.2, 8)
    yield "thin border over a minus", files.annotated("/Subtype/Link/C[1 1 1]", minus), "link_border_over_text"
    # Borders as LaTeX makes them: a point away from the words, and a point wide, which is also the default.
    words = text("See chapter 12", 101, 300)
    for border in ("", "/Border[0 0 1]/C[1 0 0]", "/Border[0 0 0]", "/BS<</W 0>>", "/Border[0 0 1]/C[]"):
        link = files.annotated(f"/Subtype/Link{border}", words, rect=(99, 295, 185, 311))
        yield f"link with {border}", link, "told: 0"
    for owner, name in product(_OWNERS, files.KEPT):
        yield f"{name} in the {owner}", files.drawn_by(owner, files.KEPT[name]), "told: 0"


def test_what_all_draw_alike_is_not_told_and_what_hides_text_is_refused() -> None:
    assert {name: told for name, pdf, expected in _judged() if (told := reason(pdf)) != expected} == {}


def test_an_annotation_in_a_layer_that_is_off_is_told() -> None:
    one, other = drawn(files.in_a_layer_that_is_off())
    assert one and not other
    assert reason(files.in_a_layer_that_is_off()) == "told: 1"


@pytest.mark.parametrize("owner", _OWNERS)
@pytest.mark.parametrize("name", files.MALFORMED | files.LOST | files.CUT_OFF)
def test_contents_that_others_draw_otherwise_are_written_anew_or_refused(owner: str, name: str) -> None:
    """What is written anew looks the same in PDFium and poppler."""
    pdf = files.drawn_by(owner, (files.MALFORMED | files.LOST | files.CUT_OFF)[name])
    try:
        prepared = inspect(pdf, page_limit=1).prepared
    except PdfRefused as refused:
        assert refused.reason == "shown_differently"
        return
    assert prepared
    one, other = drawn(prepared)
    assert _same(one, other), (one, other)


@pytest.mark.parametrize("descendants", ["", "/DescendantFonts[]", "/DescendantFonts[null]", "/DescendantFonts[<<>>]"])
def test_words_in_a_composite_font_of_no_font_are_refused(descendants: str) -> None:
    """PDFium shows none of the words, and other readers do."""
    pdf = files.in_a_composite_font(descendants)
    one, other = drawn(pdf)
    assert one is None and other is not None
    assert reason(pdf) == "shown_differently"


def test_a_page_with_very_many_places_has_one_for_all() -> None:
    lines = [(each, 100, each + 5, 110) for each in range(99)]
    rows = [{"Subtype": Name.Line, "Rect": line, "L": line} for line in lines]
    (place,) = told(paper("", annotations=rows))
    assert (place["x"], place["width"]) == (0, 103)
