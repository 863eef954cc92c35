"""Pages as pictures: the right page, at the right scale, as a reader sees it."""

import io
from typing import Any

import pytest
from pikepdf import Name
from PIL import Image

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import render_page, render_png
from tests.pdf.pdf_factory import Stream, paper, text
from tests.pdf.sealed_files import sealed

SQUARE = "0 0 0 rg 100 200 50 50 re f"  # black, in user space


def picture(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content)).convert("RGB")


def dark(image: Image.Image) -> tuple[int, int, int, int] | None:
    """Return the box of everything dark: left, top, right, bottom in pixels."""
    return image.convert("L").point(lambda value: 255 if value < 128 else 0).getbbox()


@pytest.mark.parametrize(
    ("page", "size", "box"),
    [
        ({}, (595, 842), (100, 592, 150, 642)),
        ({"/Rotate": 90}, (842, 595), (200, 100, 250, 150)),
        ({"/Rotate": 180}, (595, 842), (445, 200, 495, 250)),
        ({"/Rotate": 270}, (842, 595), (592, 445, 642, 495)),
        ({"/CropBox": [50, 150, 350, 550]}, (300, 400), (50, 300, 100, 350)),
        ({"/UserUnit": 2}, (1190, 1684), (200, 1184, 300, 1284)),
    ],
)
def test_pages_are_drawn_as_the_reader_sees_them(
    page: dict[str, object], size: tuple[int, int], box: tuple[int, int, int, int]
) -> None:
    pdf = paper("", SQUARE, page=page)
    for image in (picture(render_page(pdf, 2, 1)), picture(render_png(pdf, 2, 1))):
        assert image.size == size
        assert dark(image) == pytest.approx(box, abs=1)
    assert dark(picture(render_page(pdf, 1, 1))) is None
    assert picture(render_page(pdf, 2, 0.5)).size == pytest.approx((size[0] / 2, size[1] / 2), abs=1)


def test_text_stays_as_it_is_photos_are_compressed() -> None:
    letters = paper(text("Agreement", 100, 300))
    assert picture(render_page(letters, 1, 1)).tobytes() == picture(render_png(letters, 1, 1)).tobytes()

    colours = Image.effect_noise((300, 300), 90).convert("RGB").tobytes()
    mixed = bytes(colour ^ (place % 251) for place, colour in enumerate(colours))
    size: dict[str, Any] = {"Width": 300, "Height": 300, "BitsPerComponent": 8}
    noise = Stream(mixed, Subtype=Name.Image, ColorSpace=Name.DeviceRGB, **size)
    photo = paper("q 595 0 0 842 0 0 cm /X Do Q", resources={"XObject": {"X": noise}})
    assert b"VP8 " in render_page(photo, 1, 1)[:16]
    assert b"VP8L" in render_page(letters, 1, 1)[:16]


BLUE = {"N": Stream("0 0 1 rg 0 0 100 50 re f", Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 100, 50])}
FIELD = {"Type": Name.Annot, "Subtype": Name.Widget, "FT": Name.Tx, "T": "a", "F": 4, "Rect": [100, 100, 200, 150]}


@pytest.mark.filterwarnings("ignore::pikepdf.PageCopyWarning")
@pytest.mark.parametrize("in_form", [True, False])
def test_form_fields_are_shown_also_those_that_no_form_lists(in_form: bool) -> None:
    """Browsers show them as well; a seal adds a form to the file, which must not make fields appear."""
    field = {**FIELD, "V": "filled", "AP": BLUE}
    options: dict[str, Any] = {"annotations": [field]} if in_form else {"page": {"Annots": [field]}}
    pdf = paper("", form={"DA": "/F1 12 Tf 0 g"}, **options)
    for content in (pdf, sealed(pdf).content):
        image = picture(render_png(content, 1, 1))
        assert image.getpixel((150, 842 - 125)) == (0, 0, 255)
        assert dark(image) == pytest.approx((100, 692, 200, 742), abs=2)


@pytest.mark.parametrize("number", [0, -1, 3])
def test_a_page_that_is_not_there_is_refused(number: int) -> None:
    with pytest.raises(PdfRefused) as caught:
        render_page(paper("", ""), number, 1)
    assert (caught.value.reason, caught.value.facts) == ("no_such_page", {"page": number, "count": 2})
    assert caught.value.message == f"The PDF has 2 pages, so there is no page {number}."


def test_a_page_of_extraordinary_size_is_drawn_smaller() -> None:
    image = picture(render_page(paper(SQUARE, size=(14400, 14400)), 1, 2))
    assert image.width * image.height <= 16_100_000
    assert picture(render_page(paper(SQUARE, size=(100, 14400)), 1, 2)).height <= 16_383


@pytest.mark.parametrize("page", [{}, {"/Rotate": 90}, {"/CropBox": [50, 150, 350, 550]}, {"/UserUnit": 2}])
def test_the_sixteen_parts_of_a_page_are_the_page(page: dict[str, object]) -> None:
    """The parts run in rows from the top left."""
    pdf = paper(SQUARE + text("Agreement", 100, 300), page=page)
    whole = picture(render_page(pdf, 1, 2))
    parts = [picture(render_page(pdf, 1, 2, part=part)) for part in range(1, 17)]
    together = Image.new("RGB", whole.size, "white")
    for index, part in enumerate(parts):
        row, column = divmod(index, 4)
        together.paste(part, (round(column * whole.width / 4), round(row * whole.height / 4)))
    assert dark(together) == pytest.approx(dark(whole), abs=2)
    assert sum(part.width for part in parts[:4]) == pytest.approx(whole.width, abs=4)


def test_parts_have_four_times_the_pixels_of_the_largest_picture() -> None:
    pdf = paper(SQUARE, size=(2384, 3370))
    whole, part = picture(render_page(pdf, 1, 6)), picture(render_page(pdf, 1, 6, part=16))
    assert whole.width * whole.height == pytest.approx(16_000_000, rel=0.01)
    assert 16 * part.width * part.height == pytest.approx(64_000_000, rel=0.01)
