"""Reader space and user space of a page."""

import pikepdf
import pytest

from paraph.pdf.structure.objects import Unsafe
from paraph.pdf.structure.pages import apply, compose, geometry_of, inverse, page_geometry, pages, transform_box
from paraph.pdf.structure.reader import PdfReader
from tests.pdf.pdf_factory import saved

PORTRAIT = (0, 0, 600, 800)
Point = tuple[int, int]


@pytest.mark.parametrize(
    ("rotate", "size", "bottom_left", "top_right"),
    [
        (0, (600, 800), (0, 0), (600, 800)),
        (90, (800, 600), (600, 0), (0, 800)),
        (180, (600, 800), (600, 800), (0, 0)),
        (270, (800, 600), (0, 800), (600, 0)),
        (-90, (800, 600), (0, 800), (600, 0)),
        (450, (800, 600), (600, 0), (0, 800)),
        (30, (600, 800), (0, 0), (600, 800)),
    ],
)
def test_corners_of_a_rotated_page(rotate: int, size: Point, bottom_left: Point, top_right: Point) -> None:
    page = page_geometry(PORTRAIT, rotate=rotate)
    assert (page.width, page.height) == size
    assert apply(page.to_user, 0, 0) == bottom_left
    assert apply(page.to_user, *size) == top_right


def test_the_crop_box_counts_only_within_the_media_box() -> None:
    assert page_geometry(PORTRAIT, (100, 700, 900, 50)).visible == (100, 50, 600, 700)
    assert page_geometry(PORTRAIT, (700, 0, 900, 100)).visible == PORTRAIT
    assert page_geometry(PORTRAIT, (0, 0, 0, 0)).visible == PORTRAIT
    assert page_geometry((-300, -400, 300, 400), None).visible == (-300, -400, 300, 400)
    assert page_geometry(None).visible == (0, 0, 612, 792)


def test_the_unit_scales_what_the_reader_sees() -> None:
    page = page_geometry(PORTRAIT, (50, 50, 550, 750), 90, 2)
    assert (page.width, page.height) == (1400, 1000)
    assert apply(page.to_user, 100, 200) == (450, 100)
    assert page_geometry(PORTRAIT, unit=-1).unit == 1


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_there_and_back(rotate: int) -> None:
    page = page_geometry((-10, -20, 590, 780), (5, 6, 400, 500), rotate, 1.5)
    assert compose(page.to_user, page.to_reader) == pytest.approx((1, 0, 0, 1, 0, 0))
    assert inverse(page.to_reader) == pytest.approx(page.to_user)
    assert transform_box(page.to_reader, page.visible) == pytest.approx((0, 0, page.width, page.height))


def test_attributes_are_inherited_except_the_unit() -> None:
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(100, 100))
    del page.obj.MediaBox
    pdf.Root.Pages.MediaBox = pdf.make_indirect(pikepdf.Array([0, 0, 300, 200]))
    pdf.Root.Pages.CropBox = pikepdf.Array([10, 20, 400, 300])
    pdf.Root.Pages.Rotate = -90
    pdf.Root.Pages.UserUnit = 3
    reader = PdfReader(saved(pdf))
    geometry = geometry_of(reader, next(pages(reader)))
    assert (geometry.visible, geometry.rotate, geometry.unit) == ((10, 20, 300, 200), 270, 1.0)


def test_a_page_that_is_a_node_as_well_is_unsafe() -> None:
    pdf = pikepdf.new()
    for _ in range(2):
        pdf.add_blank_page(page_size=(100, 100))
    pdf.Root.Pages.Kids[1].Kids = pikepdf.Array([])
    with pytest.raises(Unsafe, match="the page tree is broken"):
        list(pages(PdfReader(saved(pdf))))
