"""The words of a page: where they stand, which of them a stamp covers, and which wait for a signature."""

from functools import partial

import pytest

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import SignatureLine, find_covered_words, list_signature_lines, text_layer
from tests.pdf.pdf_factory import paper, text

PLACE = (100.0, 300.0, 200.0, 80.0)
BLANK = "______________________"


def test_words_stand_where_they_are_seen() -> None:
    pdf = paper("", text("Sale agreement", 100, 700) + text("of 2026", 100, 680))
    layer = text_layer(pdf, 2)
    assert (layer.width, layer.height) == (595, 842)
    assert [(word.text, word.line) for word in layer.words] == [("Sale", 0), ("agreement", 0), ("of", 1), ("2026", 1)]
    sale, agreement = layer.words[:2]
    assert sale.x == pytest.approx(100, abs=0.5)
    assert sale.width == pytest.approx(12 * (667 + 556 + 222 + 556) / 1000, abs=0.5)
    assert sale.y < 700 < sale.y + sale.height
    assert agreement.x == pytest.approx(100 + 12 * (667 + 556 + 222 + 556 + 278) / 1000, abs=0.5)
    assert text_layer(pdf, 1).words == []


def test_only_what_the_reader_sees_on_rotated_and_cropped_pages() -> None:
    content = text("seen", 100, 300) + text("unseen", 20, 300)
    (word,) = text_layer(paper(content, page={"/CropBox": [90, 100, 440, 700], "/Rotate": 90}), 1).words
    assert word.text == "seen"
    assert word.height > word.width
    assert word.x < 200 < word.x + word.width
    assert word.y + word.height == pytest.approx(340, abs=1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", []),
        (text("Rent: 1,200 euros", 110, 330), ["Rent: 1,200 euros"]),
        (text("Place, date", 110, 340) + text("Landlord: Marta", 240, 340), ["Place, date", "Landlord: …"]),
        (text("The rent is due", 80, 330), ["… rent is due"]),
        (text("[[tenant]] {{sign:1}}", 110, 330), []),
        (text("____________________", 110, 330), []),
        (text("Signature: ____________", 50, 310), []),  # its label stands beside
        (text("Ok", 110, 330), []),
        (text("Above it stands a line", 110, 382), []),
        (text("And one is below it", 110, 290), []),
    ],
)
def test_the_words_that_a_stamp_covers(content: str, words: list[str]) -> None:
    """Whole words are told, with an ellipsis where their line goes on."""
    assert find_covered_words(paper(content), [(1, *PLACE)]) == [words]


@pytest.mark.parametrize(
    ("page", "place"),
    [
        ({"/Rotate": 90}, (300, 345, 80, 150)),
        ({"/Rotate": 180}, (345, 462, 150, 80)),
        ({"/Rotate": 270}, (462, 100, 80, 150)),
        ({"/CropBox": [50, 150, 350, 550]}, (50, 150, 150, 80)),
        ({"/UserUnit": 2}, (200, 600, 300, 160)),
    ],
)
def test_places_are_those_that_a_reader_sees(page: dict[str, object], place: tuple[float, ...]) -> None:
    """The word starts at 120, 335 in the page's own space; just beside the place there is none."""
    pdf = paper(text("Rent", 120, 335), page=page)
    x, y, width, height = place
    beside = [(1, x + width + 1, y, 40, height), (1, x, y + height + 1, width, 40)]
    found = find_covered_words(pdf, [(1, x, y, width, height), *beside])
    assert found == [["Rent"], [], []]


def test_many_places_are_answered_in_their_order() -> None:
    pdf = paper("", text("Rent", 120, 335), "")
    pages = [2, 1, 3, 2, 1]
    found = find_covered_words(pdf, [(page, *PLACE) for page in pages])
    assert found == [["Rent"] if page == 2 else [] for page in pages]
    for read in (partial(find_covered_words, pdf, [(4, *PLACE)]), partial(text_layer, pdf, 4)):
        with pytest.raises(PdfRefused, match="no page 4"):
            read()


def found(*contents: str, **options: object) -> list[tuple[str, int]]:
    return [(line.label, line.page_number) for line in lines(*contents, **options)]


def lines(*contents: str, **options: object) -> list[SignatureLine]:
    found = list_signature_lines(paper(*contents, **options))  # type: ignore[arg-type]
    return [line for line in found if line.is_for_signature]


def rule(x: float, y: float, width: float) -> str:
    return f"{x} {y} m {x + width} {y} l S\n"


@pytest.mark.parametrize("label", ["Signature", "Signed by", "Unterschrift", "Firma", "Assinatura", "Handtekening"])
def test_a_blank_after_the_word(label: str) -> None:
    [line] = lines("", text(f"{label}: {BLANK}", 72, 300))
    assert (line.label, line.page_number) == (label, 2)
    assert 72 + 30 < line.x < 200 and 130 < line.width < 160 and 290 < line.y < 300


def test_blanks_for_other_things_are_left_out() -> None:
    assert found(text(f"Date: {BLANK}", 72, 300), text("Signature page", 72, 700)) == []
    assert found(text(f"Signature: {BLANK} Date: {BLANK}", 72, 300)) == [("Signature", 1)]
    assert found(text(f"Significant: {BLANK}", 72, 300), text(f"Design: {BLANK}", 72, 300)) == []


def test_a_blank_above_the_word() -> None:
    drawn = text(BLANK, 72, 250) + text("Signature of the tenant", 72, 238, 8) + text(BLANK, 330, 250)
    assert found(drawn + text("Date", 330, 238, 8)) == [("Signature of the tenant", 1)]


def test_a_drawn_rule_beside_or_above_the_word() -> None:
    assert found(text("Signature:", 72, 300) + rule(135, 298, 200)) == [("Signature", 1)]
    assert found(rule(72, 250, 180) + text("Signature of the tenant", 72, 238, 8)) == [("Signature of the tenant", 1)]
    assert found(rule(72, 650, 180) + text("Signature of the tenant", 72, 238, 8)) == []
    [line] = lines(rule(72, 250, 180) + text("Signature", 72, 238, 8))
    assert abs(line.x - 72) < 2 and abs(line.width - 180) < 3 and abs(line.y - 250) < 2


def box(x: float, y: float, width: float, height: float) -> str:
    return f"{x} {y} {width} {height} re S\n"


def test_what_stands_under_one_line_is_no_label_of_the_next() -> None:
    drawn = rule(72, 300, 180) + text("Ada Byron, Landlord", 72, 288) + rule(72, 240, 180) + text("Tenant", 72, 228)
    assert [(line.label, line.about) for line in lines(drawn)] == [
        ("Ada Byron, Landlord", "Ada Byron, Landlord"),
        ("Tenant", "Tenant"),
    ]


def test_a_cell_is_offered_and_its_label_is_not() -> None:
    row = box(72, 300, 100, 60) + box(172, 300, 180, 60) + text("Signature", 76, 345)
    caption = box(72, 200, 180, 60) + text("Signature of the tenant", 72, 188, 8)
    found = [(line.label, round(line.x), round(line.y), round(line.room)) for line in lines(row + caption)]
    assert found == [("Signature", 174, 302, 56), ("Signature of the tenant", 74, 202, 56)]


def test_points_are_those_of_the_page_as_it_is_read() -> None:
    """The page is turned, cropped and scaled; in its own space, the text runs upwards."""
    turned = {"/Rotate": 90, "/CropBox": [50, 40, 450, 640], "/UserUnit": 2.0}
    upright = f"BT /F1 12 Tf 0 1 -1 0 250 100 Tm (Signature: {BLANK}) Tj ET\n"
    [line] = lines(upright, page=turned)
    assert line.width > 2 * 130 and line.height < 2 * 20
    assert abs(line.y - 2 * (450 - 250)) < 12 and 2 * (100 - 40 + 30) < line.x < 2 * (100 - 40 + 90)


def test_as_many_as_anybody_needs() -> None:
    page = "".join(text(f"Signature: {BLANK}", 72, 20 + 16 * row) for row in range(50))
    assert len(lines(*[page] * 6)) == 200
