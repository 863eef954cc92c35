"""Marks and overlay stand where a reader of the page expects them, and nothing else of the page changes."""

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import pikepdf
import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name, ObjectStreamMode, String
from PIL import Image, ImageChops

from paraph.pdf.drawing.marks import FormXObjects, initials_row
from paraph.pdf.sealing.seal import Mark, Overlay
from paraph.pdf.structure.contents_grammar import ContentsDecoder
from paraph.pdf.structure.objects import PdfStream, Ref
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.untrusted.jobs.page_pictures import show_form_fields
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import check_plain_form
from paraph.pdf.untrusted.jobs.upload_checks.values import NotPlain
from tests.pdf.pdf_factory import paper, saved, text
from tests.pdf.pictures import sizes
from tests.pdf.sealed_files import DRAWING, GREEN, RED, WATERMARK, pictures, sealed

X, Y, WIDTH, HEIGHT = 100, 60, 100, 50
WORDS = text("Nothing of this moves", 150, 300, 20) + "0.5 g 120 200 100 40 re f\n"
SCALE = 2.0


def page_of(pdf: bytes, number: int = 1) -> Image.Image:
    """Return the page as a reader sees it, with 2 pixels per point."""
    document = pypdfium2.PdfDocument(pdf)
    show_form_fields(document)
    image: Image.Image = document[number - 1].render(scale=SCALE).to_pil().convert("RGB")
    document.close()
    return image


def colour_at(image: Image.Image, x: float, y: float) -> Any:
    """Return the colour at a point of reader space."""
    return image.getpixel((round(x * SCALE), image.height - 1 - round(y * SCALE)))


def assert_mark(before: bytes, after: bytes, *, number: int = 1, unit: float = 1) -> None:
    """Assert that a red mark stands at X, Y, its black corner at the lower left, and that nothing else has changed.

    PDFium may draw a page without the size of its user units: ``unit`` converts reader space to its pixels.
    """
    old, new = page_of(before, number), page_of(after, number)
    x, y, width, height = X / unit, Y / unit, WIDTH / unit, HEIGHT / unit
    assert colour_at(new, x + width / 2, y + height / 2) == (255, 0, 0)
    assert colour_at(new, x + width - 2, y + 2) == (255, 0, 0)
    assert colour_at(new, x + width - 2, y + height - 2) == (255, 0, 0)
    assert colour_at(new, x + 2, y + 2) == (0, 0, 0)
    changed = ImageChops.difference(old, new).getbbox()
    bottom = old.height / SCALE - y
    expected = (x * SCALE, (bottom - height) * SCALE, (x + width) * SCALE, bottom * SCALE)
    assert changed is not None
    assert all(abs(one - other) <= 1.01 for one, other in zip(changed, expected, strict=True)), (changed, expected)


@pytest.mark.parametrize(("size", "expected"), [((595, 842), (0, 255, 255)), ((842, 421), (0, 255, 0))])
def test_each_page_has_the_overlay_of_the_nearest_proportions(size: tuple[int, int], expected: object) -> None:
    after = sealed(paper(WORDS, size=size), appearances=pictures(), page_overlay=Overlay(WATERMARK, (GREEN,))).content
    assert colour_at(page_of(after), size[0] / 2, 404 / 842 * size[1]) == expected


def marked(pdf: bytes, **mark: Any) -> bytes:
    arguments = {"page_number": 1, "x": X, "y": Y, "width": WIDTH, "height": HEIGHT, "appearance": RED}
    return sealed(pdf, appearances=pictures(), marks=[Mark(**{**arguments, **mark})]).content


@pytest.mark.parametrize("rotate", [0, 90, 180, 270, -90, 360])
@pytest.mark.parametrize(
    "boxes",
    [
        {},
        {"/CropBox": [50, 40, 500, 700]},
        {"/MediaBox": [-300, -400, 300, 400]},
        {"/MediaBox": [-300, -400, 300, 400], "/CropBox": [400, 500, -280, -390]},
    ],
    ids=["plain", "crop", "negative", "both"],
)
def test_rotated_and_cropped_pages(rotate: int, boxes: dict[str, Any]) -> None:
    pdf = paper(WORDS, page={"/Rotate": rotate, **boxes})
    assert_mark(pdf, marked(pdf))


def test_user_units() -> None:
    pdf = paper(WORDS, page={"/UserUnit": 2, "/Rotate": 90, "/CropBox": [50, 40, 500, 700]}, min_version="1.6")
    assert_mark(pdf, marked(pdf), unit=2 if page_of(pdf).width == 660 * SCALE else 1)


def inherit(document: pikepdf.Pdf) -> None:
    for page in document.pages:
        del page.obj.MediaBox
        page.obj.Resources.Font.F1.BaseFont = Name.Courier  # not the font that viewers use where there is none
        document.Root.Pages.Resources = page.obj.Resources
        del page.obj.Resources
    document.Root.Pages.MediaBox = Array([0, 0, 400, 600])
    document.Root.Pages.CropBox = Array([20, 30, 380, 580])
    document.Root.Pages.Rotate = 270


def share_contents(document: pikepdf.Pdf) -> None:
    first, second = document.pages
    both = document.make_indirect(Array([first.obj.Contents, second.obj.Contents]))
    first.obj.Contents = second.obj.Contents = both


def occupy(document: pikepdf.Pdf, shared: str) -> None:
    """Make the pages draw something by the names that marks would take."""
    drawn = document.make_stream(b"/G gs 0 1 0 rg 0 0 50 50 re f")
    drawn.update(Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 50, 50])))
    names = Dictionary({"/Paraph0": drawn, "/Paraph1": drawn})
    drawn_by_names = document.make_indirect(names) if shared == "names" else names
    resources = Dictionary(XObject=drawn_by_names, ExtGState=Dictionary(G=Dictionary(ca=0.5)))
    for page in document.pages:
        page.obj.Resources = document.make_indirect(resources) if shared == "resources" else resources


def strip(document: pikepdf.Pdf) -> None:
    del document.pages[0].obj.Contents, document.pages[0].obj.Resources


ODD: dict[str, tuple[list[str], Callable[[pikepdf.Pdf], None] | None]] = {
    "open": (["q 3 0 0 3 50 50 cm q 1 0 0 1 9 9 cm " + WORDS], None),
    "closed too often": (["Q Q 0.5 0 0 0.5 10 10 cm Q " + WORDS + "q"], None),
    "transformed": (["0.7 0 0 0.7 10 20 cm " + WORDS], None),
    "letters in strings": (["q BT /F1 12 Tf 1 0 0 1 100 400 Tm (Q q \\) Q) Tj ET 2 0 0 2 5 5 cm " + WORDS], None),
    "empty": ([""], None),
    "boxes, rotation and resources inherited": ([WORDS, WORDS], inherit),
    "contents shared": (["q 2 0 0 2 0 0 cm", WORDS + " Q"], share_contents),
    **{
        f"names taken, {shared} shared": (["/G gs /Paraph0 Do", "/G gs /Paraph1 Do"], partial(occupy, shared=shared))
        for shared in ("resources", "names", "nothing")
    },
    "neither contents nor resources": ([""], strip),
}
"""The contents of the pages, and what prepares the file."""


@pytest.mark.parametrize("kind", ODD)
def test_whatever_the_page_is_like_it_and_the_next_one_stay_as_they_are(kind: str) -> None:
    contents, prepare = ODD[kind]
    pdf = paper(*contents, prepare=prepare)
    after = marked(pdf)
    assert_mark(pdf, after)
    assert len(contents) == 1 or page_of(pdf, 2).tobytes() == page_of(after, 2).tobytes()


@pytest.mark.parametrize(("rotate", "size"), [(0, (595, 842)), (90, (595, 842)), (0, (300, 842)), (180, (842, 300))])
def test_the_overlay_fits_every_page_upright(rotate: int, size: tuple[int, int]) -> None:
    pdf = paper(WORDS, WORDS, size=size, page={"/Rotate": rotate})
    after = sealed(
        pdf, appearances=pictures(), page_overlay=Overlay(WATERMARK), marks=[Mark(2, X, Y, WIDTH, HEIGHT, GREEN)]
    ).content
    for number in (1, 2):
        image = page_of(after, number)
        width, height = image.width / SCALE, image.height / SCALE
        fit = min(width / 595, height / 842)
        assert colour_at(image, width / 2, height / 2 - (421 - 404) * fit) == (0, 255, 255)
    assert colour_at(page_of(after, 2), X + WIDTH / 2, Y + HEIGHT / 2) == (0, 255, 0)


def inherited_reference(document: pikepdf.Pdf) -> None:
    document.Root.Pages.Resources = document.make_indirect(document.pages[0].obj.Resources)
    for page in document.pages:
        del page.obj.Resources


def two_parents(document: pikepdf.Pdf) -> None:
    """Make each half of the pages inherit resources and size from a parent of its own."""
    top, halves = document.Root.Pages, []
    for kids, size in ((document.pages[:2], (300, 400)), (document.pages[2:], (600, 900))):
        half = document.make_indirect(Dictionary(Type=Name.Pages, Parent=top, Count=2))
        half.MediaBox, half.Kids = Array([0, 0, *size]), Array([page.obj for page in kids])
        half.Resources = Dictionary(Font=kids[0].obj.Resources.Font)
        for page in kids:
            page.obj.Parent = half
            del page.obj.MediaBox, page.obj.Resources
        halves.append(half)
    top.Kids = Array(halves)


@pytest.mark.parametrize("mode", [ObjectStreamMode.disable, ObjectStreamMode.generate])
@pytest.mark.parametrize("prepare", [inherited_reference, two_parents])
def test_the_watermark_is_seen_on_every_page(prepare: Callable[[pikepdf.Pdf], None], mode: ObjectStreamMode) -> None:
    before = paper(*[text("Page", 72, 300)] * 4, prepare=prepare, object_stream_mode=mode)
    after = sealed(before, appearances=pictures(), page_overlay=Overlay(WATERMARK)).content
    for number, (width, height) in enumerate(sizes(before), start=1):
        assert colour_at(page_of(after, number), width * 0.504, height * 0.48) == (0, 255, 255)


def test_pictures_and_their_fonts_come_once() -> None:
    document = pikepdf.new()
    font = document.make_indirect(Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Courier))
    for _ in range(2):
        page = document.add_blank_page(page_size=(100, 50))
        page.obj.Resources = Dictionary(Font=Dictionary(F1=font))
        page.obj.Contents = document.make_stream(b"BT /F1 9 Tf 5 5 Td (x) Tj ET")
    pdf = paper(*[WORDS] * 6)
    marks = [Mark(number, X, Y, 100, 50, number % 2) for number in range(1, 7)]
    result = sealed(pdf, appearances=saved(document), marks=marks).content
    added = result[len(pdf) :]
    assert added.count(b"/Courier") == 1
    assert added.count(b"/Subtype /Form") == 2


def intricate(document: pikepdf.Pdf) -> None:
    """Add resources with everything that a copy could get wrong."""
    own = document.make_indirect
    page = document.pages[0].obj
    other = own(
        Dictionary(Note=String("4 0 R and 5 0 R"), Deep=Array([1, own(Array([2, 3])), Dictionary(A=own(Array([7])))]))
    )
    plain = own(Dictionary(Words=String("plain words")))
    inner = own(Dictionary({"/Other": other, "/Plain": plain, "/Name#20with R": Name("/A#42"), "/T": String("(b) R")}))
    left = own(Dictionary(Parent=page, Kept=inner, StructParent=3))
    page.Resources.ExtGState = own(Dictionary(A=inner, B=left, C=own(Array([inner, other, None, True, 1.5]))))
    page.Resources.Pattern = own(Dictionary(P=document.make_stream(b"0 0 m 4 0 R", Extra=inner)))


def copied(pdf: bytes) -> dict[Ref, Any]:
    """Return the objects that a picture adds to a revision, as values."""
    revision = Revision(PdfReader(paper(text("a", 72, 700))))
    FormXObjects(PdfReader(pdf), revision).form(0)
    return revision._changed


@pytest.mark.parametrize("mode", [ObjectStreamMode.disable, ObjectStreamMode.generate])
def test_what_a_picture_draws_with_comes_along(mode: ObjectStreamMode) -> None:
    values = copied(paper(text("Picture", 10, 10), prepare=intricate, object_stream_mode=mode)).values()
    assert sum(type(value) is PdfStream for value in values) == 2 and len(values) > 8
    dictionaries = [value for value in values if isinstance(value, dict)]
    assert not any(b"/Parent" in each for each in dictionaries)
    strings = {key: each[key] for each in dictionaries for key in (b"/Note", b"/T", b"/Words") if key in each}
    assert strings == {b"/Note": b"(4 0 R and 5 0 R)", b"/T": rb"(\(b\) R)", b"/Words": b"(plain words)"}


def test_into_an_encrypted_file_its_strings_come_encrypted() -> None:
    original = paper(text("a", 72, 700), encryption=pikepdf.Encryption(owner="owner", user="", R=6))
    source = paper(text("Picture", 10, 10), prepare=intricate, object_stream_mode=ObjectStreamMode.disable)
    content = sealed(original, appearances=source, marks=[Mark(1, 100, 100, 200, 80, 0)]).content
    with pikepdf.open(io.BytesIO(content)) as document:
        found = {
            key: item[key]
            for item in document.objects
            for key in ("/Note", "/Words")
            if isinstance(item, Dictionary) and key in item
        }
    assert {key: str(value) for key, value in found.items()} == {"/Note": "4 0 R and 5 0 R", "/Words": "plain words"}


@pytest.mark.parametrize("page", [(595.3, 841.9), (841.9, 595.3), (100, 100), (30, 2000), (2000, 40)])
@pytest.mark.parametrize("count", [1, 2, 5, 25, 100])
def test_on_the_page_and_apart(page: tuple[float, float], count: int) -> None:
    places = initials_row(*page, count)
    assert len(places) == count
    for place in places:
        assert place.x >= 0 and place.y >= 0
        assert place.x + place.width <= page[0] + 1e-6
        assert place.y + place.height <= page[1] * 0.15
        assert place.width == pytest.approx(2 * place.height)
    for index, one in enumerate(places):
        for other in places[index + 1 :]:
            beside = one.x + one.width <= other.x + 1e-6 or other.x + other.width <= one.x + 1e-6
            above = one.y >= other.y + other.height - 1e-6 or other.y >= one.y + one.height - 1e-6
            assert beside or above


def test_one_signer_stands_at_the_bottom_right_in_full_size_and_several_in_their_order() -> None:
    [place] = initials_row(595, 842, 1)
    assert (place.width, place.height) == (48, 24)
    assert place.x + place.width == pytest.approx(595 - 14)
    places = initials_row(595, 842, 4)
    assert [place.x for place in places] == sorted(place.x for place in places)
    assert {each.y for each in (place, *places)} == {14}


def clean(pdf: bytes) -> bool:
    try:
        return check_plain_form(PdfReader(pdf), scanned=False).clean_contents
    except NotPlain:
        return False


def with_contents(*contents: bytes) -> bytes:
    document = pikepdf.new()
    for each in contents:
        document.add_blank_page(page_size=(300, 300)).obj.Contents = document.make_stream(each)
    return saved(document)


@pytest.mark.parametrize(
    "last", [b"q", b"Q", b"BT", b"/P BMC", b"(abc", b"foo", b"0 0 m", b"q " * 300], ids=lambda each: each[:8].decode()
)
def test_one_page_that_is_not_clean_is_enough(last: bytes) -> None:
    assert clean(with_contents(b"q Q", b"0 0 5 5 re f"))
    assert not clean(with_contents(b"q Q", b"0 0 5 5 re f", last))


def test_contents_that_are_no_streams_are_not_clean() -> None:
    document = pikepdf.new()
    document.add_blank_page(page_size=(300, 300)).obj.Contents = pikepdf.Array([])
    assert clean(saved(document))
    document.pages[0].obj.Contents = document.make_indirect(pikepdf.Dictionary())
    assert not clean(saved(document))


def test_a_file_that_refers_beyond_its_last_object_is_not_clean() -> None:
    pdf = paper(text("Page", 72, 700))
    last = PdfReader(pdf).crossreference.next_number - 1
    assert clean(pdf.replace(b"startxref", b"%% %d 0 R\nstartxref" % last))
    assert not clean(pdf.replace(b"startxref", b"%% %d 0 R\nstartxref" % (last + 1)))


def test_what_is_drawn_is_the_same_and_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    pdf = paper(*[text(f"Page {number}", 72, 700) for number in range(4)])
    assert clean(pdf)
    read = sealed(pdf, **DRAWING).content

    def refuse(*_: object) -> None:
        raise AssertionError("the contents were read")

    monkeypatch.setattr(ContentsDecoder, "decode", refuse)
    with pytest.raises(AssertionError):
        sealed(pdf, **DRAWING)
    unread = sealed(pdf, **DRAWING, clean_contents=True).content
    assert revision(unread, pdf) == revision(read, pdf)


def revision(content: bytes, pdf: bytes) -> bytes:
    """Return what was appended, up to the dictionary of the signature, whose value differs each time."""
    return content[len(pdf) :].partition(b"/ByteRange")[0]


def test_a_form_made_of_the_file_is_read_whatever_was_found() -> None:
    """The finding holds for the file itself; its repaired form may have other contents."""
    damaged = with_contents(b"0 1 0 rg 0 0 300 300 re f (swallows what follows").replace(b"startxref", b"startxrex")
    found = sealed(damaged, **DRAWING, clean_contents=True)
    assert found.method != "incremental" and colour_at(page_of(found.content), 150, 125) == (255, 0, 0)
