"""Annotations hide no mark and no watermark, and look as before once the file is sealed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name
from PIL import ImageChops

from paraph.pdf.sealing.seal import Mark, Overlay
from tests.pdf.drawing.test_draw import HEIGHT, WIDTH, WORDS, X, Y, colour_at, page_of
from tests.pdf.drawing.test_marks_show import FULL, assert_shown, form, in_contents, views
from tests.pdf.pdf_factory import paper
from tests.pdf.sealed_files import RED, WATERMARK, pictures, sealed
from tests.sampled import sampled

Prepare = Callable[[pikepdf.Pdf], None]


def annotation(kind: str, *, picture: bool = True, form_entries: Dictionary | None = None, **entries: Any) -> Prepare:
    """Return a change that puts an annotation over the whole page; with ``form_entries`` it is a field."""

    def annotate(document: pikepdf.Pdf) -> None:
        note = Dictionary({"/Type": Name.Annot, "/Subtype": Name("/" + kind), "/Rect": FULL, "/F": 4})
        note.update(Dictionary({f"/{key}": value for key, value in entries.items()}))
        if picture:
            note.AP = Dictionary(N=form(document, "1 1 0 rg 0 0 595 842 re f"))
        note = document.make_indirect(note)
        document.pages[0].obj.Annots = Array([note])
        if form_entries is not None:
            document.Root.AcroForm = Dictionary({"/Fields": Array([note]), **dict(form_entries.items())})

    return annotate


YELLOW = Dictionary(BG=Array([1, 1, 0]))
ANEW = Dictionary(NeedAppearances=True, DA=pikepdf.String("/Helv 9 Tf 0 g"))
COVERS = {
    **{
        kind: annotation(kind)
        for kind in ("Link", "Popup", "Stamp", "Text", "FreeText", "Watermark", "Screen", "Other")
    },
    "no view": annotation("Stamp", F=4 + 32),
    "hidden": annotation("Stamp", F=2),
    "border": annotation("Link", picture=False, Border=Array([0, 0, 1000]), C=Array([1, 1, 0])),
    "thick": annotation("Square", picture=False, BS=Dictionary(W=500), C=Array([1, 1, 0]), IC=Array([1, 1, 0])),
    "outside": annotation("Square", picture=False, Rect=Array([0, 0, 9, 9]), BS=Dictionary(W=900), C=Array([1, 1, 0])),
    "field": annotation("Widget", form_entries=Dictionary(), FT=Name.Tx, T="a", V="b"),
    "field anew": annotation("Widget", form_entries=ANEW, FT=Name.Tx, T="a", V="b", MK=YELLOW),
    "button anew": annotation("Widget", form_entries=ANEW, FT=Name.Btn, Ff=65536, T="a", MK=YELLOW),
    "field without picture": annotation(
        "Widget", picture=False, form_entries=ANEW, FT=Name.Tx, T="a", V="b", MK=YELLOW
    ),
    "signature field": annotation("Widget", form_entries=Dictionary(), FT=Name.Sig, T="a"),
}


@pytest.mark.parametrize("prepare", COVERS.values(), ids=COVERS)
@pytest.mark.thorough
def test_no_annotation_hides_a_mark_or_the_watermark(prepare: Prepare, tmp_path: Path) -> None:
    pdf = paper(WORDS, prepare=prepare)
    assert not in_contents(pdf)
    assert_shown(pdf, tmp_path)
    over = sealed(pdf, appearances=pictures(), page_overlay=Overlay(WATERMARK)).content
    assert all(colour_at(image, 300, 404) == (0, 255, 255) for image in views(over, tmp_path).values())


def test_a_link_that_shows_nothing_leaves_marks_in_the_contents() -> None:
    assert in_contents(paper(WORDS, prepare=annotation("Link", picture=False, Border=Array([0, 0, 0]))))


def test_pages_that_share_their_annotations_show_their_own_marks() -> None:
    def share(document: pikepdf.Pdf) -> None:
        annotation("Stamp")(document)
        first, second = document.pages
        first.obj.Annots = document.make_indirect(first.obj.Annots)
        second.obj.Annots = first.obj.Annots

    pdf = paper(WORDS, WORDS, prepare=share)
    marks = [Mark(2, X, Y, WIDTH, HEIGHT, RED)]
    after = sealed(pdf, appearances=pictures(), marks=marks).content
    assert page_of(after).tobytes() == page_of(pdf).tobytes()
    assert colour_at(page_of(after, 2), X + WIDTH / 2, Y + HEIGHT / 2) == (255, 0, 0)


QUADS = Array([100, 400, 300, 400, 100, 300, 300, 300])
UNPICTURED = {
    "FreeText": annotation("FreeText", picture=False, Contents="Hello", DA=pikepdf.String("0 0 1 rg /Helv 20 Tf")),
    "FreeText without /DA": annotation("FreeText", picture=False, Contents="Hello", C=Array([1, 0, 0])),
    **{
        kind: annotation(kind, picture=False, Contents="Hello", C=Array([1, 0, 0]), QuadPoints=QUADS)
        for kind in ("Highlight", "Underline", "Squiggly", "StrikeOut", "Square", "Circle", "Text", "Stamp")
    },
    "Ink": annotation("Ink", picture=False, InkList=Array([Array([110, 310, 200, 390, 290, 310])]), C=Array([1, 0, 0])),
    "Line": annotation("Line", picture=False, L=Array([110, 310, 290, 390]), C=Array([1, 0, 0])),
    "field": annotation("Widget", picture=False, form_entries=Dictionary(), FT=Name.Tx, T="a", V="b", MK=YELLOW),
    "field anew": annotation("Widget", picture=False, form_entries=ANEW, FT=Name.Tx, T="a", V="b", MK=YELLOW),
}


@pytest.mark.parametrize("kind", sampled(UNPICTURED, 4))
def test_annotations_without_an_appearance_look_as_before(kind: str, tmp_path: Path) -> None:
    pdf = paper(WORDS, prepare=UNPICTURED[kind])
    before, after = views(pdf, tmp_path), views(sealed(pdf).content, tmp_path)
    changed = {viewer: ImageChops.difference(before[viewer], after[viewer]).getbbox() for viewer in before}
    assert not any(changed.values()), changed
