"""Contents that refer to objects, wherever pages draw with them and however they do it."""

from collections.abc import Callable

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


def _in_contents(document: pikepdf.Pdf, content: bytes) -> None:
    document.pages[0].obj.Contents = document.make_stream(content)


def _in_one_of_several(document: pikepdf.Pdf, content: bytes) -> None:
    page = document.pages[0].obj
    page.Contents = Array([page.Contents, document.make_stream(content)])


def _in_contents_that_say_they_are_a_picture(document: pikepdf.Pdf, content: bytes) -> None:
    document.pages[0].obj.Contents = document.make_stream(content, Type=Name.XObject, Subtype=Name.Image)


def _form(document: pikepdf.Pdf, content: bytes, **more: object) -> pikepdf.Stream:
    return document.make_stream(content, Type=Name.XObject, Subtype=Name.Form, BBox=_ROOM, **more)


def _in_a_form(document: pikepdf.Pdf, content: bytes) -> None:
    document.pages[0].obj.Resources.XObject = Dictionary(X=_form(document, content))


def _in_a_form_within_a_form(document: pikepdf.Pdf, content: bytes) -> None:
    inner = Dictionary(XObject=Dictionary(Y=_form(document, content)))
    document.pages[0].obj.Resources.XObject = Dictionary(X=_form(document, b"/Y Do", Resources=inner))


def _in_a_pattern(document: pikepdf.Pdf, content: bytes) -> None:
    pattern = document.make_stream(content, PatternType=1, PaintType=1, TilingType=1, BBox=_ROOM, XStep=9, YStep=9)
    document.pages[0].obj.Resources.Pattern = Dictionary(P=pattern)


def _in_a_pattern_that_says_it_is_a_picture(document: pikepdf.Pdf, content: bytes) -> None:
    _in_a_pattern(document, content)
    document.pages[0].obj.Resources.Pattern.P.Subtype = Name.Image


def _in_a_form_by_the_name_of_a_font_program(document: pikepdf.Pdf, content: bytes) -> None:
    descriptor = document.make_indirect(Dictionary(FontFile=_form(document, content)))
    document.pages[0].obj.Resources.XObject = descriptor
    document.pages[0].obj.Resources.Font.F1.FontDescriptor = descriptor


def _in_a_form_that_is_a_profile_as_well(document: pikepdf.Pdf, content: bytes) -> None:
    _in_a_form(document, content)
    resources = document.pages[0].obj.Resources
    resources.ColorSpace = Dictionary(C=Array([Name.ICCBased, resources.XObject.X]))


def _in_a_glyph(document: pikepdf.Pdf, content: bytes) -> None:
    font = Dictionary(Type=Name.Font, Subtype=Name.Type3, CharProcs=Dictionary(a=document.make_stream(content)))
    document.pages[0].obj.Resources.Font.F2 = document.make_indirect(font)


def _in_a_soft_mask(document: pikepdf.Pdf, content: bytes) -> None:
    mask = Dictionary(S=Name.Alpha, G=_form(document, content))
    document.pages[0].obj.Resources.ExtGState = Dictionary(G=Dictionary(SMask=mask))


def _in_an_appearance(document: pikepdf.Pdf, content: bytes) -> None:
    looks = Dictionary(N=_form(document, content))
    stamp = Dictionary(Type=Name.Annot, Subtype=Name.Stamp, Rect=_ROOM, AP=looks)
    document.pages[0].obj.Annots = Array([document.make_indirect(stamp)])


def _in_inherited_resources(document: pikepdf.Pdf, content: bytes) -> None:
    resources = document.pages[0].obj.Resources
    resources.XObject = Dictionary(X=_form(document, content))
    document.Root.Pages.Resources = resources
    del document.pages[0].obj.Resources


def _in_resources_of_the_form(document: pikepdf.Pdf, content: bytes) -> None:
    font = Dictionary(Type=Name.Font, Subtype=Name.Type3, CharProcs=Dictionary(a=document.make_stream(content)))
    document.Root.AcroForm = Dictionary(Fields=Array([]), DR=Dictionary(Font=Dictionary(F2=font)))


PLACES: list[Callable[[pikepdf.Pdf, bytes], None]] = [
    _in_contents,
    _in_one_of_several,
    _in_contents_that_say_they_are_a_picture,
    _in_a_form,
    _in_a_form_within_a_form,
    _in_a_pattern,
    _in_a_pattern_that_says_it_is_a_picture,
    _in_a_form_by_the_name_of_a_font_program,
    _in_a_form_that_is_a_profile_as_well,
    _in_a_glyph,
    _in_a_soft_mask,
    _in_an_appearance,
    _in_inherited_resources,
    _in_resources_of_the_form,
]
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


def _numbers(pdf: bytes) -> frozenset[int]:
    reader = PdfReader(pdf)
    return referred_in_contents(reader, pages(reader))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("packed", [False, True])
def test_references_are_found_wherever_they_stand(*, place: Callable[[pikepdf.Pdf, bytes], None], packed: bool) -> None:
    pdf = paper(text("Words", 100, 700), prepare=lambda document: place(document, _WORDS), compress_streams=packed)
    assert _numbers(pdf) == {900}
    with pytest.raises(PdfRefused, match="readers show different pages"):
        inspect(pdf, page_limit=9)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_however_they_are_spelled(spelling: bytes) -> None:
    assert _numbers(paper(text("Words", 100, 700), prepare=lambda document: _in_contents(document, spelling))) == {900}


@pytest.mark.parametrize("content", INNOCENT)
def test_what_is_none(content: bytes) -> None:
    pdf = paper(text("Words", 100, 700), prepare=lambda document: _in_contents(document, content))
    assert not _numbers(pdf)


def test_what_is_no_text_is_not_read() -> None:
    """Bytes of profiles and palettes look like anything."""

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
