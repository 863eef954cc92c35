"""Values of fields as a reader sees them."""

from dataclasses import replace

import pytest

from paraph.pdf.typesetting import fonts
from paraph.pdf.typesetting.appearances import appearances
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent, field_picture, fitted_size
from tests.pdf.pictures import font_sizes, ink_box, pictures, sizes, squeezed, texts

FIELD = FieldContent(160, 18, "Anna Rossi")
BOX = FieldContent(160, 60, "", multiline=True)
LONG = "Donaudampfschifffahrtsgesellschaftskapitänswitwe"


def drawn(*contents: FieldContent) -> bytes:
    """Return a PDF with a page for each value."""
    return appearances(
        fields=[FieldsContent(each.width, each.height, [FieldPlace(0, 0, each)]) for each in contents]
    ).pdf


def box_of(content: FieldContent) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of what is drawn, in points."""
    [picture] = pictures(drawn(content))
    box = ink_box(picture)
    assert box is not None
    left, top, right, bottom = (edge / 4 for edge in box)
    return left, top, right, bottom


def test_a_value_is_set_at_its_size_where_it_fits() -> None:
    assert fitted_size(FIELD) == 10
    pdf = drawn(FIELD)
    assert sizes(pdf) == [(160, 18)]
    assert texts(pdf) == ["Anna Rossi"] and font_sizes(pdf) == {10.0}
    [picture] = pictures(pdf)
    colours = {colour for _, colour in picture.getcolors() or []}
    assert {colour for colour in colours if isinstance(colour, tuple) and colour[3] == 255} == {(17, 17, 17, 255)}


def test_a_long_value_is_set_smaller_as_measured_down_to_six_points() -> None:
    content = replace(FIELD, text=LONG)
    size = fitted_size(content)
    assert size is not None and 6 < size < 10
    assert list(font_sizes(drawn(content))) == pytest.approx([size], abs=0.01)
    left, _, right, _ = box_of(content)
    assert left > 1 and 155 < right < 159
    assert fitted_size(replace(content, text=LONG * 2)) is None


def test_what_stands_side_by_side_stands_on_one_line() -> None:
    _, _, _, one = box_of(replace(FIELD, text="xxx"))
    for text in ("X12", "Zoë", "Ľéto", "\u0627", "тон", "\u2013—x"):
        _, _, _, other = box_of(replace(FIELD, text=text))
        assert one == pytest.approx(other, abs=0.5), text


@pytest.mark.parametrize("text", ["Größe", "gjpqÅ", "Ấgjy", "Ấ(ŋ", "محمد الخالدي", "山田太郎", "नरेन्द्र"])
@pytest.mark.parametrize("height", [8, 11, 30])
def test_what_is_drawn_has_the_size_that_was_measured(text: str, height: float) -> None:
    content = replace(FIELD, height=height, text=text)
    size = fitted_size(content)
    assert size and size >= 6 and list(font_sizes(drawn(content))) == pytest.approx([size], abs=0.01)
    _, top, _, bottom = box_of(content)
    assert top >= -0.1 and bottom <= height + 0.1
    if height == 30:
        assert size == 10 and 15 < bottom < 25, "in the middle"


def test_lines_are_kept_and_wrapped() -> None:
    content = replace(BOX, text="First\n\nThird line is rather long and wraps at the edge of its box.")
    assert fitted_size(content) == 10
    lines = [line for line in texts(drawn(content))[0].splitlines() if line.strip("\u00a0 ")]
    assert lines[0].strip() == "First" and len(lines) == 3 and lines[1].startswith("Third")
    size = fitted_size(replace(content, text=content.text * 2))
    assert size is not None and size < 10
    assert fitted_size(replace(content, text=content.text * 4)) is None


@pytest.mark.parametrize("text", ["x" * 400, "https://example.com/" + "averylongpath" * 20, "あ" * 150, "W" * 150])
def test_words_longer_than_a_line_break(text: str) -> None:
    if ord(text[0]) > 0x2000 and not fonts.library().has_cjk:
        pytest.skip("Noto Sans CJK is not installed (Debian: fonts-noto-cjk)")
    content = replace(BOX, height=90, text=f"Note: {text}")
    assert fitted_size(content)
    assert text in squeezed(texts(drawn(content))[0])
    left, top, right, bottom = box_of(content)
    assert left >= 1.5 and right <= 158.6 and top >= 0 and bottom <= 90


def test_letters_from_right_to_left_begin_at_the_right() -> None:
    for content in (replace(FIELD, text="محمد"), replace(BOX, text="محمد")):
        left, _, right, _ = box_of(content)
        assert left > 100 and right > 155
        left, _, right, _ = box_of(replace(content, text="Latin", locale="ar"))
        assert left < 5 and right < 60


def test_numbers_begin_where_the_language_does_and_keep_their_order() -> None:
    content = replace(FIELD, text="+49 30 1234", locale="ar")
    left, _, right, _ = box_of(content)
    assert left > 80 and right > 155
    arabic, english = (next(pictures(drawn(replace(content, locale=locale)))) for locale in ("ar", "en"))
    boxes = [picture.crop(ink_box(picture)) for picture in (arabic, english)]
    assert abs(boxes[0].width - boxes[1].width) <= 1
    one, other = (box.getchannel("A").resize((44, 8)).tobytes() for box in boxes)
    assert max(abs(a - b) for a, b in zip(one, other, strict=True)) < 60


def test_each_line_has_its_own_direction() -> None:
    [picture] = pictures(drawn(replace(BOX, text="Latin\nمحمد")))
    upper, lower = picture.crop((0, 0, 640, 48)), picture.crop((0, 56, 640, 110))
    above, below = ink_box(upper), ink_box(lower)
    assert above and below and above[0] < 20 and below[2] > 620


def test_a_ticked_box_is_a_cross_and_an_unticked_one_nothing() -> None:
    ticked, unticked = FieldContent(12, 12, "", ticked=True), FieldContent(12, 12, "")
    assert fitted_size(ticked) and not ticked.is_blank and unticked.is_blank
    left, top, right, bottom = box_of(ticked)
    assert left == pytest.approx(12 - right, abs=0.3) and top == pytest.approx(12 - bottom, abs=0.3)
    assert 6 < right - left < 12
    [empty] = pictures(drawn(unticked))
    assert ink_box(empty) is None
    wide = box_of(replace(ticked, width=60))
    assert wide[2] - wide[0] == pytest.approx(right - left, abs=0.3), "as wide as high, in the middle"


@pytest.mark.parametrize("text", ["a" + "\u0301" * 2000, "x" * 10_000, "\n".join("x" * 1000), "م" * 10_000])
@pytest.mark.parametrize("multiline", [False, True])
def test_what_has_no_room_is_refused_and_never_drawn_over_the_edge(text: str, multiline: bool) -> None:
    content = FieldContent(160, 24, text, multiline=multiline)
    assert fitted_size(content) is None
    page = FieldsContent(400, 200, [FieldPlace(100, 100, replace(content, text=text[:2000]))])
    [picture] = pictures(appearances(fields=[page]).pdf)
    box = ink_box(picture)
    assert box is None or (box[0] >= 398 and box[1] >= 398 and box[2] <= 1042 and box[3] <= 498)


@pytest.mark.parametrize("text", ["a" + "\u0301\u0300\u0302", "नरेन्द्र", "Nguyễn Thị Ấn"])
def test_letters_with_their_marks_fit(text: str) -> None:
    assert fitted_size(replace(FIELD, text=text)) == 10


@pytest.mark.parametrize("text", ["", " ", "\u202e \n", "\x00"])
@pytest.mark.parametrize("multiline", [False, True])
def test_nothing_visible_is_blank(text: str, multiline: bool) -> None:
    content = replace(BOX, text=text, multiline=multiline)
    assert content.is_blank and fitted_size(content) == 10
    [picture] = pictures(drawn(content))
    assert ink_box(picture) is None


def test_the_fields_of_a_page_are_one_picture_each_at_its_place() -> None:
    places = [FieldPlace(10, 20, FIELD), FieldPlace(10, 60, replace(FIELD, text="Bo Li"))]
    both = appearances(fields=[FieldsContent(200, 100, places), FieldsContent(200, 100, places)])
    assert both.fields_pages == [0, 0] and sizes(both.pdf) == [(200, 100)]
    [together] = pictures(both.pdf)
    for place in places:
        [alone] = pictures(drawn(place.content))
        left, top = round(4 * place.x), round(4 * place.y)
        there = together.crop((left, top, left + alone.width, top + alone.height))
        assert max(abs(a - b) for a, b in zip(there.tobytes(), alone.tobytes(), strict=True)) < 40


def test_what_is_shown_is_what_is_sealed() -> None:
    svg = field_picture(FIELD)
    assert svg.startswith(b'<svg viewBox="0 0 160 18"') and b"<script" not in svg
    assert b"#ffffff" not in svg.lower(), "without a ground"
    assert field_picture(replace(FIELD, text='"><script>alert(1)</script>')).count(b"script") == 0
