"""A watermark is seen on pages of every kind, whatever they share with others."""

import io
from collections.abc import Callable

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, ObjectStreamMode

from paraph.pdf.sealing.seal import Overlay
from paraph.pdf.structure.objects import Unsafe, serialized
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import PdfReader
from tests.pdf.drawing.test_draw import colour_at, page_of
from tests.pdf.pdf_factory import paper, text
from tests.pdf.pictures import sizes
from tests.pdf.sealed_files import WATERMARK, pictures, sealed

WORDS = [text(f"Page {number}", 72, 700) for number in range(6)]
Prepare = Callable[[pikepdf.Pdf], None]


def numbered(document: pikepdf.Pdf) -> None:
    for number, page in enumerate(document.pages):
        page.obj.StructParents = number


def inherited_resources(document: pikepdf.Pdf) -> None:
    document.Root.Pages.Resources = document.pages[0].obj.Resources
    for page in document.pages:
        del page.obj.Resources


def inherited_reference(document: pikepdf.Pdf) -> None:
    inherited_resources(document)
    document.Root.Pages.Resources = document.make_indirect(document.Root.Pages.Resources)


def boxes_behind_references(document: pikepdf.Pdf) -> None:
    for number, page in enumerate(document.pages):
        page.obj.MediaBox = document.make_indirect(Array([0, 0, 500 + 10 * number, 700]))


def references_in_strings(document: pikepdf.Pdf) -> None:
    for number, page in enumerate(document.pages):
        page.obj.PieceInfo = Dictionary(Note=f"see {number} 0 R or {number} 99999 R", Other=f"{7 - number} 0 R (x) y")


def two_parents(document: pikepdf.Pdf) -> None:
    """The same text of the pages, but other resources and another size inherited."""
    top, halves = document.Root.Pages, []
    inherited_resources(document)
    for count, (kids, width) in enumerate([(document.pages[:3], 300), (document.pages[3:], 500)]):
        entries = {"/Type": Name.Pages, "/Parent": top, "/Count": 3, "/MediaBox": Array([0, 0, width, 400])}
        half = document.make_indirect(Dictionary(entries))
        half.Kids = Array([page.obj for page in kids])
        if count:
            half.Resources = Dictionary(Font=top.Resources.Font)
        for page in kids:
            page.obj.Parent = half
            del page.obj.MediaBox
        halves.append(half)
    top.Kids = Array(halves)


PREPARATIONS: list[Prepare] = [
    numbered,
    inherited_reference,
    boxes_behind_references,
    references_in_strings,
    two_parents,
]


@pytest.mark.parametrize("mode", [ObjectStreamMode.disable, ObjectStreamMode.generate])
@pytest.mark.parametrize("prepare", PREPARATIONS)
def test_the_watermark_is_seen_on_every_page(prepare: Prepare, mode: ObjectStreamMode) -> None:
    before = paper(*WORDS, prepare=prepare, object_stream_mode=mode)
    after = watermarked(before)
    for number, (width, height) in enumerate(sizes(before), start=1):
        shown = page_of(after, number)
        assert colour_at(shown, width * 0.504, height * 0.48) == (0, 255, 255)
    with pikepdf.open(io.BytesIO(before)) as old, pikepdf.open(io.BytesIO(after)) as new:
        numbers = [[page.obj.get("/StructParents") for page in document.pages] for document in (old, new)]
        assert numbers[0] == numbers[1]


def watermarked(pdf: bytes) -> bytes:
    return sealed(pdf, appearances=pictures(), page_overlay=Overlay(WATERMARK)).content


def test_a_page_that_turns_out_to_be_a_node_is_unsafe() -> None:
    """Of two pages with the same text, the second has kids behind its reference."""
    pdf = paper(*WORDS[:3], object_stream_mode=ObjectStreamMode.disable)
    first, second, _ = (page.ref for page in pages(PdfReader(pdf)))
    for ref, kids in ((first, b"98 0 R"), (second, b"99 0 R")):
        pdf += b"%d 0 obj\n<</Type /Page /Kids %b>>\nendobj\n" % (ref.number, kids)
    pdf += b"99 0 obj\n[]\nendobj\n"
    places = {number: pdf.rindex(b"\n%d 0 obj" % number) + 1 for number in (first.number, second.number, 99)}
    before, start = PdfReader(pdf[: pdf.rindex(b"%%EOF") + 6]), len(pdf)
    entries = b"".join(b"%d 1\n%010d 00000 n \n" % item for item in places.items())
    trailer = serialized({b"/Size": 100, b"/Root": before.trailer[b"/Root"], b"/Prev": before.crossreference.start})
    pdf += b"xref\n%btrailer\n%b\nstartxref\n%d\n%%%%EOF\n" % (entries, trailer, start)
    with pytest.raises(Unsafe, match="the page tree is broken"):
        list(pages(PdfReader(pdf)))
