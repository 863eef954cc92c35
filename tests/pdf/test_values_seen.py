"""Values of fields on odd pages: PDFium and poppler show each value where the signer's picture had it."""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageFilter, ImageStat

from benchmarks.corpus.rendering import BOTH
from paraph.flow.sealing.stamp_marks import on_pages
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.typesetting.appearances import appearances
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent
from paraph.pdf.untrusted.inspect import inspect
from paraph.signature_requests.fields.kinds import Value, field_content
from paraph.signature_requests.models import Field
from tests import independent
from tests.pdf.odd_files import CLASSES
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import sealed

VALUES: list[tuple[str, Value]] = [
    ("text", "Anna Rossi"),
    ("text", "محمد الخالدي"),
    ("multiline", "Unter den Linden 1\n10117 Berlin"),
    ("number", "-1234567.50"),
    ("date", "2026-11-21"),
    ("checkbox", True),
    ("choice", "Yes, by post"),
    ("signed_on", "2026-11-22"),
    ("full_name", "Éva Nagy"),
    ("email", "eva@example.com"),
]
WORDS = text("Some words", 60, 60)
PAGES: dict[str, dict[str, Any]] = {
    **{f"rotated by {turn}": {"/Rotate": turn, "/CropBox": [50, 50, 500, 700]} for turn in (0, 90, 180, 270, -90)},
    "a larger unit": {"/UserUnit": 2, "/Rotate": 90, "/CropBox": [50, 40, 500, 700]},
    "below the origin": {"/MediaBox": [-300, -400, 300, 400], "/CropBox": [-280, -390, 250, 380]},
}
_BLUR = 2  # pixels, within which renderers draw the same letters differently
_FAINT, _SEEN = 45, 10  # of 255: the most that may differ after blurring, and the least ink on average


@pytest.mark.parametrize("name", PAGES)
def test_on_pages_that_are_turned_cropped_or_of_a_larger_unit(name: str) -> None:
    independent.need("pdftoppm", "poppler-utils")
    assert list(faults(paper(WORDS, page=PAGES[name], min_version="1.6"))) == []


def test_beside_an_earlier_signature() -> None:
    independent.need("pdftoppm", "poppler-utils")
    assert list(faults(sealed(paper(WORDS)).content)) == []


def test_a_value_at_another_place_is_noticed() -> None:
    """This tests the check that the other tests rely on."""
    independent.need("pdftoppm", "poppler-utils")
    found = list(faults(paper(WORDS), moved=6))
    assert {fault.partition(":")[0] for fault in found} == {"PDFium", "poppler"} and len(found) > len(VALUES)


@pytest.mark.thorough
@pytest.mark.parametrize("name", CLASSES)
def test_on_odd_files_of_every_class(name: str) -> None:
    independent.need("pdftoppm", "poppler-utils")
    assert list(faults(CLASSES[name](Random(f"values {name}")))) == []


@pytest.mark.thorough
def test_on_every_file_of_the_corpus() -> None:
    independent.need("pdftoppm", "poppler-utils")
    corpus = os.environ.get("PARAPH_CORPUS")
    if not corpus:
        pytest.skip("PARAPH_CORPUS names no folder of PDFs")
    files = sorted(Path(corpus).rglob("*.pdf"))
    assert files
    assert {file.name: found for file in files if (found := list(faults(file.read_bytes())))} == {}


def faults(pdf: bytes, moved: float = 0) -> Iterator[str]:
    """Yield what is wrong with the values on the first page, one line each; nothing where the file is refused.

    ``moved``: how many points to the right of their places the values are sealed."""
    try:
        inspection = inspect(pdf, page_limit=200)
    except PdfRefused:
        return
    shown = inspection.prepared or pdf
    size = inspection.pages[0]
    fields = [(field, field_content(field, value, "en")) for field, value in _fields(*size)]
    [page] = on_pages(fields)
    drawn = appearances(fields=[page.content])
    mark = page.mark(drawn.fields_pages[0])
    at = {"x": mark.x + moved, "y": mark.y}
    content = sealed(shown, appearances=drawn.pdf, marks=[type(mark)(**{**vars(mark), **at})]).content
    files = (shown, content, _alone(size, fields))
    for renderer in BOTH:
        for field in _faulty([renderer.images(file, [0])[0] for file in files], size, [field for field, _ in fields]):
            yield f"{renderer.name}: {field.type} at {field.x:.0f}, {field.y:.0f}"


def _fields(width: float, height: float) -> Iterator[tuple[Field, Value]]:
    """Yield fields with their values, in two columns, as large as the page allows."""
    across, high = width / 2 - 4, height / 7
    for number, (kind, value) in enumerate(VALUES):
        column, row = number % 2, number // 2
        place = {"x": 2 + column * width / 2, "y": height - (row + 1.5) * high, "page_number": 1}
        own = {"width": min(200.0, across), "height": min(40.0, high * 0.9)}
        yield Field(type=kind, **place, **own, font_size=24 if width > 300 else 10), value


def _alone(size: tuple[float, float], fields: list[tuple[Field, FieldContent]]) -> bytes:
    """Return a page with nothing but the values, as large as a reader sees the page."""
    places = [FieldPlace(field.x, size[1] - field.y - field.height, content) for field, content in fields]
    return appearances(fields=[FieldsContent(*size, places)]).pdf


def _faulty(images: list[Image.Image | None], size: tuple[float, float], fields: list[Field]) -> Iterator[Field]:
    """Yield the fields that look wrong. ``images``: the page before and after, and the values alone."""
    before, after, values = images
    assert values
    if before is None:
        return
    for field in fields:
        boxes = [_box(field, image or before, size) for image in images]
        if after is None or not _as_expected(before.crop(boxes[0]), after.crop(boxes[1]), values.crop(boxes[2])):
            yield field


def _box(field: Field, image: Image.Image, size: tuple[float, float]) -> tuple[int, int, int, int]:
    across, up = image.width / size[0], image.height / size[1]
    left, right = field.x * across, (field.x + field.width) * across
    top, bottom = image.height - (field.y + field.height) * up, image.height - field.y * up
    return round(left), round(top), round(right), round(bottom)


def _as_expected(before: Image.Image, after: Image.Image, values: Image.Image) -> bool:
    """Return whether the page shows what it did before, with the value on it."""
    values = values.resize(before.size)
    assert ImageStat.Stat(ImageChops.invert(values.convert("L"))).extrema[0][1] > _SEEN, "there is ink"
    wanted = ImageChops.multiply(before, values)
    blurred = [image.resize(before.size).filter(ImageFilter.GaussianBlur(_BLUR)) for image in (wanted, after)]
    return max(high for _, high in ImageStat.Stat(ImageChops.difference(*blurred)).extrema) <= _FAINT
