"""Contents that refer to objects, wherever pages draw with them and however they do it."""

from collections.abc import Callable
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.contents_references import referred_in_contents
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.inspect import inspect
from tests.pdf.pdf_factory import paper, text

_WORDS = b"BT /F1 12 Tf 100 600 Td [900 0 R] TJ ET"
_ROOM = Array([0, 0, 99, 99])
_TILING = {"PatternType": 1, "PaintType": 1, "TilingType": 1, "BBox": _ROOM, "XStep": 9, "YStep": 9}


def _form(document: pikepdf.Pdf, content: bytes, **more: Any) -> pikepdf.Stream:
    return document.make_stream(content, Type=Name.XObject, Subtype=Name.Form, BBox=_ROOM, **more)


def _glyph(document: pikepdf.Pdf, content: bytes) -> Dictionary:
    glyphs = Dictionary(a=document.make_stream(content))
    font = document.make_indirect(Dictionary(Type=Name.Font, Subtype=Name.Type3, CharProcs=glyphs))
    return Dictionary(Font=Dictionary(F1=document.pages[0].obj.Resources.Font.F1, F2=font))


def _form_by_the_name_of_a_font_program(document: pikepdf.Pdf, content: bytes) -> Dictionary:
    descriptor = document.make_indirect(Dictionary(FontFile=_form(document, content)))
    document.pages[0].obj.Resources.Font.F1.FontDescriptor = descriptor
    return Dictionary(XObject=descriptor)


def _form_that_is_a_profile_as_well(document: pikepdf.Pdf, content: bytes) -> Dictionary:
    drawn = _form(document, content)
    return Dictionary(XObject=Dictionary(X=drawn), ColorSpace=Dictionary(C=Array([Name.ICCBased, drawn])))


RESOURCES: dict[str, Callable[[pikepdf.Pdf, bytes], Dictionary]] = {
    "a form": lambda document, content: Dictionary(XObject=Dictionary(X=_form(document, content))),
    "a form within a form": lambda document, content: Dictionary(
        XObject=Dictionary(X=_form(document, b"/X Do", Resources=RESOURCES["a form"](document, content)))
    ),
    "a pattern": lambda document, content: Dictionary(Pattern=Dictionary(P=document.make_stream(content, **_TILING))),
    "a pattern that says it is a picture": lambda document, content: Dictionary(
        Pattern=Dictionary(P=document.make_stream(content, **_TILING, Subtype=Name.Image))
    ),
    "a glyph": _glyph,
    "a soft mask": lambda document, content: Dictionary(
        ExtGState=Dictionary(G=Dictionary(SMask=Dictionary(S=Name.Alpha, G=_form(document, content))))
    ),
    "a form by the name of a font program": _form_by_the_name_of_a_font_program,
    "a form that is a profile as well": _form_that_is_a_profile_as_well,
}
"""What the page draws with; each name says where the content is."""
ELSEWHERE = ["contents", "one of several", "contents that say they are a picture"]
ELSEWHERE += ["an appearance", "inherited resources", "resources of the form"]


def _put(document: pikepdf.Pdf, where: str, content: bytes) -> None:
    page, stream = document.pages[0].obj, document.make_stream(content)
    if where in RESOURCES:
        page.Resources.update(RESOURCES[where](document, content))
    elif where == "one of several":
        page.Contents = Array([page.Contents, stream])
    elif where == "an appearance":
        looks = Dictionary(N=_form(document, content))
        stamp = Dictionary(Type=Name.Annot, Subtype=Name.Stamp, Rect=_ROOM, AP=looks)
        page.Annots = Array([document.make_indirect(stamp)])
    elif where == "inherited resources":
        page.Resources.update(RESOURCES["a form"](document, content))
        document.Root.Pages.Resources = page.Resources
        del page.Resources
    elif where == "resources of the form":
        document.Root.AcroForm = Dictionary(Fields=Array([]), DR=_glyph(document, content))
    else:
        page.Contents = stream
        if "picture" in where:
            stream.update(Dictionary(Type=Name.XObject, Subtype=Name.Image))


SPELLINGS = [
    b"[900 0 R] TJ",
    b"[ 900 0 R ] 0 d",
    b"[(a)900 0 R(b)] TJ",
    b"900 0 R Tj",
    b"/Span 900 0 R BDC",
    b"[900\x000\x00R] TJ",
    b"[900 0\nR] TJ",
    b"[900%a comment\n0 % another\r R] TJ",
    b"[+900 0 R] TJ",
    b"[00900 0 R] TJ",
    b"[900. 0 R] TJ",
    b"[900 00 R/A] TJ",
    b"[900 +0 R] TJ",
    b"[900 0R] TJ",
    b"[900\x0b0\x80R] TJ",
    b"[900%" + 400 * b"c" + b"\n0 R] TJ",
]
INNOCENT = [b"1 0 0 RG", b"0 0 R1 Tj", b"/R 900 0 l", b"1 0 /R gs", b"900 0 Rg", b"(900\xd70R) Tj", b"(900 .R) Tj"]


def _paper(where: str, content: bytes, **save: Any) -> bytes:
    return paper(text("Words", 100, 700), prepare=lambda document: _put(document, where, content), **save)


def _numbers(pdf: bytes) -> frozenset[int]:
    reader = PdfReader(pdf)
    return referred_in_contents(reader, pages(reader))


@pytest.mark.parametrize("where", [*ELSEWHERE, *RESOURCES])
@pytest.mark.parametrize("packed", [False, True])
def test_references_are_found_wherever_they_stand(*, where: str, packed: bool) -> None:
    pdf = _paper(where, _WORDS, compress_streams=packed)
    assert _numbers(pdf) == {900}
    with pytest.raises(PdfRefused, match="readers show different pages"):
        inspect(pdf, page_limit=9)


def test_however_they_are_spelled() -> None:
    assert [each for each in SPELLINGS if _numbers(_paper("contents", each)) != {900}] == []
    assert [each for each in INNOCENT if _numbers(_paper("contents", each))] == []


def test_what_is_no_text_is_not_read() -> None:
    """The bytes of a profile or palette may look like a reference."""

    def prepare(document: pikepdf.Pdf) -> None:
        palette, profile = document.make_stream(b"900 0 R"), document.make_stream(b"901 0 R", N=3)
        spaces = Dictionary(I=Array([Name.Indexed, Name.DeviceRGB, 1, palette]), P=Array([Name.ICCBased, profile]))
        document.pages[0].obj.Resources.ColorSpace = spaces

    assert not _numbers(paper(text("Words", 100, 700), prepare=prepare))


def test_a_page_that_draws_itself_ends() -> None:
    def prepare(document: pikepdf.Pdf) -> None:
        form = _form(document, _WORDS)
        form.Resources = Dictionary(XObject=Dictionary(X=form))
        document.pages[0].obj.Resources.XObject = Dictionary(X=form)

    assert _numbers(paper(text("Words", 100, 700), prepare=prepare)) == {900}
