"""Places of initials, and pictures imported from the pages of another PDF."""

import io
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, ObjectStreamMode, String

from paraph.pdf.drawing.marks import FormXObjects, initials_row
from paraph.pdf.sealing.seal import Mark
from paraph.pdf.structure.objects import PdfStream, Ref
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import sealed


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
