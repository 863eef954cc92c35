"""The tag search (rule 4.5, ``magic_field``): what counts as found, and where; and the stamp under it."""

import unicodedata
from collections.abc import Iterator
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Name

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.pages import Rect
from paraph.pdf.untrusted.page_reading import GAP, FoundTag, find_tags, under
from tests.pdf.pdf_factory import HELVETICA, Stream, paper, text, unicode_map

TAG = "{{sign1}}"
# widths in Helvetica, in thousandths of an em: a brace 334, s 500, i 222, g n and digits 556
TAG_WIDTH = 12 * (4 * 334 + 500 + 222 + 556 + 556 + 556) / 1000
BEFORE = 12 * (667 + 222 + 556 + 556 + 556 + 556 + 278 + 556 + 500 + 278) / 1000  # "Signed by "
A4 = (595.0, 842.0)
EM = 12.0  # points; each glyph is 0.6 em wide, its ink from 0.05 to 0.55 and from the baseline to 0.7
WIDTH, HEIGHT = 0.6 * EM * len(TAG), 0.7 * EM
SCALES = [(1.0, 1.0), (0.001, 0.001), (0.1, -0.1), (0.012, 0.012), (1.0, -1.0), (4.0, 4.0)]
# PDFium drops repeated letters where the size that is set is more than seven times what is drawn.
MEASURES = [(scale, units) for scale in SCALES for units in (1.0, 40.0, 1000.0) if units * scale[0] > 0.2]


def only(pdf: bytes, tag: str = TAG) -> FoundTag:
    found = find_tags(pdf, [tag])
    assert list(found) == [tag]
    return found[tag]


def assert_at(found: FoundTag, x: float, baseline: float, width: float = TAG_WIDTH) -> None:
    assert found.x == pytest.approx(x, abs=1)
    assert found.x + found.width / 2 == pytest.approx(x + width / 2, abs=0.5)
    assert width - 1.5 < found.width < width  # the ink, without the bearings at both ends
    assert found.y == pytest.approx(baseline - 2.6, abs=0.5)  # a brace hangs below the baseline
    assert found.height == pytest.approx(11.3, abs=0.5)


def _inheriting() -> bytes:
    """A page that inherits its boxes and its rotation from the page tree."""

    def prepare(document: pikepdf.Pdf) -> None:
        tree, page = document.Root.Pages, document.pages[0].obj
        tree.MediaBox, tree.CropBox, tree.Rotate = page.MediaBox, Array([20, 30, 595, 842]), 180
        del page.MediaBox

    return paper(f"BT /F1 12 Tf -1 0 0 -1 300 400 Tm ({TAG}) Tj ET", prepare=prepare)


def _form(**entries: Any) -> Stream:
    known = {"Font": {"F1": HELVETICA}}
    return Stream(text(TAG, 10, 20), Type=Name.XObject, Subtype=Name.Form, Resources=known, **entries)


_OUTSIDE = {"left of the crop box": 20, "cut on the left": 75, "cut on the right": 420, "right of the crop box": 700}
_CROPPED = {"/CropBox": [90, 100, 440, 700]}


def _found() -> Iterator[tuple[str, bytes, float, float]]:
    form = {"XObject": {"X": _form(BBox=[0, 0, 300, 50], Matrix=[1, 0, 0, 1, 40, 60])}}
    yield "plain", paper(text(f"Signed by {TAG}", 100, 300), text("nothing", 50, 50)), 100 + BEFORE, 300
    yield "in a form, through its matrix", paper("q 1 0 0 1 100 200 cm /X Do Q", resources=form), 150, 280
    turned = {0: "1 0 0 1 200 300", 90: "0 1 -1 0 295 200", 180: "-1 0 0 -1 395 542", 270: "0 -1 1 0 300 642"}
    for turn, matrix in turned.items():
        upright = paper(f"BT /F1 12 Tf {matrix} Tm ({TAG}) Tj ET", page={"/Rotate": turn})
        yield f"upright on a page turned by {turn}", upright, 200, 300
    from_crop_box = {"/MediaBox": [-50, -20, 600, 800], "/CropBox": [20, 30, 580, 900]}
    yield "measured from the crop box", paper(text(TAG, 100, 300), page=from_crop_box), 80, 270
    yield "inherited boxes and rotation", _inheriting(), 595 - 300, 842 - 400
    for streams in (pikepdf.ObjectStreamMode.disable, pikepdf.ObjectStreamMode.generate):
        larger = paper(text(TAG, 100, 300, 6), page={"/UserUnit": 2}, object_stream_mode=streams)
        yield f"a larger unit, {streams}", larger, 200, 600
    for where, x in _OUTSIDE.items():
        yield f"not {where}", paper(text(TAG, x, 300) + text(TAG, 200, 200), page=_CROPPED), 110, 100
    low, right, left = text(TAG, 50, 100), text(TAG, 300, 701), text(TAG, 200, 700)
    yield "the first in reading order, not the first drawn", paper(low + right + left, text(TAG, 50, 800)), 200, 700


FOUND = {name: row for name, *row in _found()}
_LOOK = {"Rect": [100, 100, 300, 130], "F": 4, "AP": {"N": _form(BBox=[0, 0, 200, 30])}}
ABSENT = {
    "pieces in two columns": paper(text("n1}}", 300, 300) + text("{{sig", 100, 300)),
    "pieces on two pages": paper(text("{{si", 100, 50), text("gn1}}", 100, 800)),
    **{where: paper(text(TAG, x, 300), page=_CROPPED) for where, x in _OUTSIDE.items()},
    "in a field": paper("", annotations=[{"Subtype": Name.Widget, "FT": Name.Tx, "T": "a", "V": TAG, **_LOOK}]),
    "in an annotation": paper("", annotations=[{"Subtype": Name.FreeText, "Contents": TAG, **_LOOK}]),
}


@pytest.mark.parametrize(("pdf", "x", "baseline"), FOUND.values(), ids=FOUND)
def test_a_tag_is_found_where_it_stands(pdf: bytes, x: float, baseline: float) -> None:
    found = only(pdf)
    assert found.page_number == 1
    assert_at(found, x, baseline)


@pytest.mark.parametrize("kind", ABSENT)
def test_what_is_no_tag_of_the_page(kind: str) -> None:
    assert find_tags(ABSENT[kind], [TAG]) == {}


def test_absent_tags_are_missing_and_case_counts() -> None:
    pdf = paper(text(TAG, 100, 300))
    assert find_tags(pdf, ["{{sign2}}", "{{SIGN1}}", "", " ", TAG]).keys() == {TAG}
    assert find_tags(pdf, []) == {}


def test_a_tag_is_found_within_a_longer_word() -> None:
    assert find_tags(paper(text("{{sign10}}", 100, 300)), ["sign1", "{{sign1}}"]).keys() == {"sign1"}


@pytest.mark.parametrize(
    "shown",
    [
        "[({) -40 ({s) 120 (ig) -200 (n1}) 30 (})] TJ",
        "[({{s) -700 (ign1) -900 (}})] TJ",
        "({{) Tj (sign) Tj (1}}) Tj",
        "({{si) Tj ET /F1 12 Tf 1 0 0 rg BT 1 0 0 1 115.34 300 Tm (gn1}}) Tj",
        "2 Tc ({{sign1}}) Tj",
        "<7b7b7369676e317d7d> Tj",
    ],
    ids=["kerned", "wide", "shows", "blocks", "spaced", "hexadecimal"],
)
def test_runs_are_joined(shown: str) -> None:
    found = only(paper(f"BT /F1 12 Tf 1 0 0 1 100 300 Tm {shown} ET"))
    assert found.x == pytest.approx(100, abs=1)
    assert found.y == pytest.approx(297.4, abs=0.5)


def test_pieces_drawn_in_another_order_are_joined() -> None:
    content = text("gn1", 115.34, 300) + text("Total: 12", 100, 500) + text("{{si", 100, 300) + text("}}", 131.36, 300)
    found = only(paper(content))
    assert found.x == pytest.approx(100, abs=1)
    assert found.width == pytest.approx(TAG_WIDTH - 6, abs=1.5)  # as the pieces overlap here


def test_text_that_runs_upwards_has_an_upright_box() -> None:
    found = only(paper(text(TAG, 100, 300), page={"/Rotate": 270}))
    assert found.height == pytest.approx(TAG_WIDTH - 1, abs=1)
    assert found.y == pytest.approx(100, abs=1)
    assert found.x + found.width == pytest.approx(842 - 297.4, abs=0.5)


def test_a_tag_over_two_lines_has_the_box_of_the_last() -> None:
    found = only(paper(text("Please {{sig", 400, 300) + text("n1}} here", 100, 286)))
    assert found.x == pytest.approx(100.8, abs=1)
    assert found.width == pytest.approx(12 * (556 + 556 + 2 * 334) / 1000 - 1, abs=1)
    assert found.y == pytest.approx(283.4, abs=0.5)


def test_a_hyphen_at_the_end_of_a_line_is_a_hyphen() -> None:
    found = only(paper(text("Here: sign-", 400, 300) + text("here please", 100, 286)), "sign-here")
    assert found.x == pytest.approx(100.8, abs=1)


def test_many_tags_on_many_pages() -> None:
    pages = [text(f"Page {number} of 300 {{{{initial{number}}}}}", 100, 100 + number) for number in range(1, 301)]
    tags = [f"{{{{initial{number}}}}}" for number in (1, 150, 300)]
    found = find_tags(paper(*pages), [*tags, "{{initial301}}"])
    assert {tag: place.page_number for tag, place in found.items()} == dict(zip(tags, (1, 150, 300), strict=True))


def test_composed_and_decomposed_accents_are_the_same() -> None:
    tag = unicodedata.normalize("NFD", "{{café}}")
    pdf = paper("BT /F1 12 Tf 1 0 0 1 100 300 Tm <7b7b636166e97d7d> Tj ET")
    assert only(pdf, tag) == only(pdf, unicodedata.normalize("NFC", tag))
    assert find_tags(pdf, ["{{cafe"]) == {}


def test_a_stamp_stands_just_under_its_tag_and_centred() -> None:
    rect = under(FoundTag(1, 250, 400, 60, 12), A4)
    assert rect == Rect(180, 400 - GAP - 80, 200, 80)
    assert rect.x + rect.width / 2 == 250 + 60 / 2


@pytest.mark.parametrize(
    ("x", "y", "corner"),
    [(10, 400, (0, 318)), (530, 400, (395, 318)), (250, 82, (180, 0)), (250, 81.995, (180, 0)), (0, 82, (0, 0))],
    ids=["left", "right", "foot", "foot, but for the last digit", "corner"],
)
def test_a_stamp_is_moved_into_the_page_sideways(x: float, y: float, corner: tuple[float, float]) -> None:
    rect = under(FoundTag(1, x, y, 60, 12), A4)
    assert (rect.x, rect.y) == corner
    assert (rect.width, rect.height) == (200, 80)


@pytest.mark.parametrize(("y", "room"), [(81.9, "79.9"), (30, "28.0"), (1, "0.0")])
def test_a_stamp_is_never_moved_up_over_its_tag(y: float, room: str) -> None:
    with pytest.raises(PdfRefused) as caught:
        under(FoundTag(2, 250, y, 60, 12), A4)
    sentence = f"There are {room} points of room under the tag on page 2 for the stamp (200 by 80 points)."
    assert (caught.value.reason, caught.value.message) == ("no_room", sentence)


def test_a_page_that_is_smaller_than_the_stamp_is_refused() -> None:
    with pytest.raises(PdfRefused) as caught:
        under(FoundTag(3, 10, 40, 60, 12), (150, 500))
    sentence = "Page 3 (150 by 500 points) is smaller than the stamp (200 by 80 points)."
    assert (caught.value.reason, caught.value.message) == ("too_small", sentence)


def type3(scale: tuple[float, float], units: float, *, shown: str = "", box: bool = True) -> bytes:
    """A page with the tag in a Type 3 font, at 100, 300, or whole or in pieces where ``shown`` has it. ``scale``: that
    of the FontMatrix; ``units``: how many of the glyphs' units make an em."""
    letters = sorted(set(TAG))
    left, bottom, right, top = 0.05 * units, 0.0, 0.55 * units, 0.7 * units * (-1 if scale[1] < 0 else 1)
    edges = f"{left} {min(bottom, top)} {right} {max(bottom, top)}" if box else "0 0 0 0"
    glyph = Stream(f"{0.6 * units} 0 {edges} d1 {left} {bottom} {right - left} {top - bottom} re f")
    names = [f"/g{number}" for number in range(len(letters))]
    font = {
        **{"Type": Name.Font, "Subtype": Name.Type3, "FontMatrix": [scale[0], 0, 0, scale[1], 0, 0]},
        **{"FontBBox": [0, 0, 0, 0], "CharProcs": dict.fromkeys(names, glyph), "Resources": {}},
        **{"FirstChar": 1, "LastChar": len(letters), "Widths": [0.6 * units] * len(letters)},
        "Encoding": {"Type": Name.Encoding, "Differences": [1, *map(Name, names)]},
        "ToUnicode": Stream(unicode_map(letters, first=1)),
    }
    codes = [f"{letters.index(letter) + 1:02x}" for letter in TAG]
    parts = {"whole": codes, "first": codes[:4], "second": codes[4:]}
    content = (shown or "BT /F3 SIZE Tf 1 0 0 1 100 300 Tm {whole} Tj ET").format(
        **{part: f"<{''.join(listed)}>" for part, listed in parts.items()}
    )
    return paper(content.replace("SIZE", f"{EM / (units * scale[0]):.8f}"), resources={"Font": {"F3": font}})


@pytest.mark.parametrize(("scale", "units"), MEASURES, ids=str)
@pytest.mark.parametrize("box", [True, False], ids=["with boxes", "without"])
def test_the_stamp_stands_under_the_ink(scale: tuple[float, float], units: float, box: bool) -> None:
    found = find_tags(type3(scale, units, box=box), [TAG])[TAG]
    assert found.x == pytest.approx(100 + 0.05 * EM, abs=0.2)
    assert found.width == pytest.approx(WIDTH - 0.1 * EM, abs=0.4)
    assert found.y == pytest.approx(300, abs=0.2)
    assert found.height == pytest.approx(HEIGHT, abs=0.2)
    rect = under(found, (595, 842))
    assert rect.y + rect.height == pytest.approx(298, abs=0.2)


@pytest.mark.parametrize("scale", SCALES[:3], ids=str)
def test_pieces_of_two_lines_and_of_two_columns(scale: tuple[float, float]) -> None:
    units = 40 / scale[0]  # an em of 40 units of drawn_text at the size 0.3
    lines = "BT /F3 SIZE Tf 1 0 0 1 400 300 Tm {first} Tj 1 0 0 1 100 286 Tm {second} Tj ET"
    found = find_tags(type3(scale, units, shown=lines), [TAG])[TAG]
    assert found.x == pytest.approx(100.6, abs=0.2) and found.y == pytest.approx(286, abs=0.2)
    columns = "BT /F3 SIZE Tf 1 0 0 1 100 300 Tm {first} Tj 1 0 0 1 300 300 Tm {second} Tj ET"
    assert find_tags(type3(scale, units, shown=columns), [TAG]) == {}


def test_a_size_within_the_text_matrix() -> None:
    content = "BT /F3 1 Tf 0.3 0 0 0.3 100 300 Tm {whole} Tj ET"
    found = find_tags(type3((1, 1), 40, shown=content), [TAG])[TAG]
    assert found.width == pytest.approx(WIDTH - 0.1 * EM, abs=0.4)
