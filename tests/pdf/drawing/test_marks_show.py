"""Whatever the upload does, its stamps and watermark are seen: by PDFium, and by poppler and MuPDF where present. Its
annotations hide no mark, and look as before once the file is sealed."""

import shutil
import subprocess
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name
from PIL import Image, ImageChops

from paraph.pdf.sealing.seal import Mark, Overlay
from tests.pdf.drawing.test_draw import HEIGHT, SCALE, WIDTH, WORDS, X, Y, colour_at, marked, page_of
from tests.pdf.pdf_factory import paper
from tests.pdf.sealed_files import RED, WATERMARK, pictures, sealed
from tests.sampled import sampled

HIDE = "q 0 0 0 0 0 0 cm "
OFF = "/OC /layer BDC "
FULL = Array([0, 0, 595, 842])


def views(pdf: bytes, folder: Path, number: int = 1) -> dict[str, Image.Image]:
    """Return the page as each installed viewer draws it."""
    seen, file, dots = {"PDFium": page_of(pdf, number)}, folder / "page.pdf", str(round(72 * SCALE))
    file.write_bytes(pdf)
    commands = {
        "pdftoppm": [*f"-r {dots} -f {number} -l {number} -singlefile -png".split(), file, folder / "pdftoppm"],
        "mutool": ["draw", "-q", "-r", dots, "-o", folder / "mutool.png", file, str(number)],
    }
    for program, arguments in commands.items():
        if shutil.which(program):
            subprocess.run([program, *map(str, arguments)], check=False, capture_output=True, timeout=60)
            seen[program] = Image.open(folder / f"{program}.png").convert("RGB")
    return seen


def assert_shown(pdf: bytes, folder: Path) -> None:
    for viewer, image in views(marked(pdf), folder).items():
        found = [colour_at(image, X + WIDTH / 2, Y + HEIGHT / 2), colour_at(image, X + WIDTH - 3, Y + HEIGHT - 3)]
        assert [*found, colour_at(image, X + 3, Y + 3)] == [(255, 0, 0), (255, 0, 0), (0, 0, 0)], viewer


def in_contents(pdf: bytes) -> bool:
    """Return whether the mark lies in the contents, not in an annotation."""
    with pikepdf.open(BytesIO(marked(pdf))) as document:
        return isinstance(document.pages[0].obj.Contents, Array) and "/AP" not in document.pages[0].obj.Annots[-1]


def layer_off(document: pikepdf.Pdf) -> None:
    layer = document.make_indirect(Dictionary(Type=Name.OCG, Name="Layer"))
    document.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(OFF=Array([layer])))
    for page in document.pages:
        page.obj.Resources.Properties = Dictionary(layer=layer)


UNCERTAIN = {
    "a string": "(abc",
    "an inline image": "BI /W 100 /H 100 /BPC 8 /CS /G ID abc EI",
    "a clip": "0 0 m 1 0 l 1 1 l W",
    "a path": f"{X} {Y} m {X} 110 l 200 110 l 200 {Y} l h",
    "unknown words": "foo " * 200,
    "a layer that is off and a string": OFF + "(abc",
}
CERTAIN = {
    "nothing": "",
    "a parenthesis in an inline image": "BI /W 1 /H 1 /BPC 8 /CS /G ID ( EI",
    "q": HIDE * 3,
    "Q in a string": HIDE + "(Q) Tj",
    "Q after a parenthesis in a comment": HIDE + "% (\n(Q) Tj",
    "Q after an escaped parenthesis": HIDE + "(\\) Q (a)) Tj",
    "Q in a dictionary": HIDE + "/P <</A (Q)>> BDC EMC",
    "a layer that is off": OFF,
    "many layers that are off": OFF * 300,
    "marked content": "/P BMC /Q BMC",
    "a text object": "BT 3 Tr",
    "a text object that clips": "BT /F1 9 Tf 7 Tr (x) Tj",
    "EMC and Q": "EMC EMC Q Q ET Q",
}


@pytest.mark.parametrize("kind", sampled(UNCERTAIN, 3))
def test_contents_that_might_swallow_a_mark(kind: str, tmp_path: Path) -> None:
    pdf = paper(WORDS + UNCERTAIN[kind], prepare=layer_off)
    assert not in_contents(pdf)
    assert_shown(pdf, tmp_path)


@pytest.mark.parametrize("kind", sampled(CERTAIN, 3))
def test_contents_that_leave_something_open(kind: str, tmp_path: Path) -> None:
    pdf = paper(WORDS + CERTAIN[kind], prepare=layer_off)
    assert in_contents(pdf)
    assert_shown(pdf, tmp_path)


@pytest.mark.parametrize("how", ["cut", "damaged", "picture", "missing", "no stream", "two words"])
def test_contents_that_are_not_all_there(how: str, tmp_path: Path) -> None:
    def spoil(document: pikepdf.Pdf) -> None:
        page = document.pages[0].obj
        packed = document.make_stream((WORDS + HIDE).encode() * 20)
        data = zlib.compress(packed.read_bytes())
        if how == "cut":
            packed.write(data[:-40], filter=Name.FlateDecode)
        elif how == "damaged":
            packed.write(data[:60] + b"xxxx" + data[64:], filter=Name.FlateDecode)
        elif how == "picture":
            packed.write(packed.read_bytes(), filter=Name.DCTDecode)
        page.Contents = packed
        if how == "missing":
            page.Contents = Array([document.make_stream(WORDS.encode()), None])
        elif how == "no stream":
            page.Contents = document.make_indirect(Dictionary())
        elif how == "two words":
            page.Contents = Array([document.make_stream(b"q 0 0 0 0 0 0 cm Q"), document.make_stream(b"Q q")])

    pdf = paper(WORDS, prepare=spoil, stream_decode_level=pikepdf.StreamDecodeLevel.none, compress_streams=False)
    assert not in_contents(pdf)
    assert_shown(pdf, tmp_path)


def form(document: pikepdf.Pdf, operators: str) -> pikepdf.Object:
    drawn = document.make_stream(operators.encode())
    drawn.update(Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=FULL, Resources=document.pages[0].obj.Resources))
    return drawn


@pytest.mark.parametrize("where", ["form", "appearance", "glyph", "pattern"])
@pytest.mark.parametrize("contents", ["", "(abc"], ids=["in contents", "in the field"])
def test_layers_that_are_left_open_elsewhere(where: str, contents: str, tmp_path: Path) -> None:
    drawing = {"form": "/Fm Do ", "glyph": "BT /T3 9 Tf (a) Tj ET ", "pattern": "/Pattern cs /P0 scn 0 0 9 9 re f "}

    def leak(document: pikepdf.Pdf) -> None:
        layer_off(document)
        page = document.pages[0].obj
        drawn = form(document, OFF)
        if where == "form":
            page.Resources.XObject = Dictionary(Fm=drawn)
        elif where == "appearance":
            entries = Dictionary(
                Type=Name.Annot, Subtype=Name.Stamp, Rect=Array([0, 0, 9, 9]), F=4, AP=Dictionary(N=drawn)
            )
            page.Annots = Array([document.make_indirect(entries)])
        elif where == "glyph":
            font = Dictionary(
                Type=Name.Font, Subtype=Name.Type3, FontBBox=FULL, FontMatrix=Array([0.001, 0, 0, 0.001, 0, 0])
            )
            font.CharProcs = Dictionary(a=document.make_stream(f"1000 0 d0 {OFF}".encode()))
            font.Encoding = Dictionary(Type=Name.Encoding, Differences=Array([97, Name.a]))
            font.FirstChar, font.LastChar, font.Widths, font.Resources = 97, 97, Array([1000]), page.Resources
            page.Resources.Font.T3 = document.make_indirect(font)
        else:
            drawn.update(
                Dictionary(PatternType=1, PaintType=1, TilingType=1, BBox=Array([0, 0, 10, 10]), XStep=9, YStep=9)
            )
            page.Resources.Pattern = Dictionary(P0=drawn)

    assert_shown(paper(WORDS + drawing.get(where, "") + contents, prepare=leak), tmp_path)


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
