"""Every way of writing a PDF is extended in its own way, and stays readable to others; so is what somebody signed
before, whose signature stays valid."""

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, Literal

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Encryption, Name, ObjectStreamMode

from paraph.kernel import clock
from paraph.pdf.sealing.seal import Mark, Overlay, SealedPdf, SealError
from paraph.pdf.structure.objects import Ref
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.verification.signed_file import SignedFile
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.pdf.drawing.test_draw import HEIGHT, WIDTH, WORDS, X, Y, assert_mark, colour_at, marked, page_of
from tests.pdf.levels import assert_archived, long_term, statuses_by_pyhanko
from tests.pdf.odd_files.signed import earlier
from tests.pdf.pdf_factory import paper, text
from tests.pdf.refused import with_integrity_code
from tests.pdf.sealed_files import (
    RED,
    ROOTS,
    WATERMARK,
    assert_trusted,
    authority,
    pictures,
    root_file,
    sealed,
    timestamping,
)

MARKS = [Mark(1, X, Y, WIDTH, HEIGHT, RED)]
PLAIN = paper(WORDS, WORDS, object_stream_mode=ObjectStreamMode.disable)
PACKED = paper(WORDS, WORDS, object_stream_mode=ObjectStreamMode.generate)


def whole(pdf: bytes, **more: Any) -> SealedPdf:
    return sealed(pdf, appearances=pictures(), marks=MARKS, page_overlay=Overlay(WATERMARK), **more)


def highest(pdf: bytes, folder: Path) -> SealedPdf:
    result = whole(pdf, at=clock.now(), timestamping=timestamping(), long_term=long_term())
    assert result.level == "B-LTA"
    assert_archived(result.content, root_file(folder), folder)
    assert_trusted(result.content, folder)
    return result


def encrypted(strength: Literal[3, 4, 6]) -> bytes:
    newer = strength > 3
    return paper(WORDS, WORDS, encryption=Encryption(owner="owner", user="", R=strength, aes=newer, metadata=newer))


def size_too_small() -> bytes:
    """A file whose /Size counts fewer objects than there are: a program that trusts it overwrites the others."""
    return re.sub(rb"/Size \d+", b"/Size 2", PLAIN)


def free_entries() -> bytes:
    """A free entry with the generation 65536, which strict readers refuse."""
    revision = later_revision(PLAIN, b"20 0 obj\n(x)\nendobj\n", b"20 1")
    return PLAIN + revision.replace(b"xref\n", b"xref\n0 1\n0000000000 65536 f \n", 1)


def hybrid() -> bytes:
    """A table for old readers, which points at a stream that new ones read too (ISO 32000-1, 7.5.8.4)."""
    stream = (
        b"30 0 obj\n<</Type/XRef/W[1 4 1]/Index[31 1]/Size 32/Length 6>>\nstream\n\0\0\0\0\0\0\nendstream\nendobj\n"
    )
    revision = later_revision(PLAIN, stream, b"30 1")
    return PLAIN + revision.replace(b"trailer\n<<", b"trailer\n<</XRefStm %d" % len(PLAIN))


def later_revision(pdf: bytes, objects: bytes, run: bytes) -> bytes:
    """Return a later revision that adds ``objects``, with a table of its own."""
    previous, root = re.findall(rb"startxref\s+(\d+)", pdf)[-1], re.findall(rb"/Root (\d+ 0 R)", pdf)[-1]
    table = b"xref\n%b\n%010d 00000 n \n" % (run, len(pdf))
    trailer = b"trailer\n<</Size 40/Root %b/Prev %b>>\n" % (root, previous)
    return objects + table + trailer + b"startxref\n%d\n%%%%EOF\n" % (len(pdf) + len(objects))


STRUCTURES: dict[str, Callable[[], bytes]] = {
    "table": lambda: PLAIN,
    "streams": lambda: PACKED,
    "linearised": lambda: paper(WORDS, WORDS, linearize=True, object_stream_mode=ObjectStreamMode.disable),
    "linearised streams": lambda: paper(WORDS, WORDS, linearize=True, object_stream_mode=ObjectStreamMode.generate),
    "no line end": PLAIN.rstrip,
    "rubbish at the end": lambda: PLAIN + b"\0\0\0\n",
    "size too small": size_too_small,
    "free entries": free_entries,
    "hybrid": hybrid,
    "rc4": lambda: encrypted(3),
    "aes 128": lambda: encrypted(4),
    "aes 256": lambda: encrypted(6),
}
DAMAGED: dict[str, Callable[[], bytes]] = {
    "wrong offsets": lambda: re.sub(rb"(?m)^0000000(\d{3}) 00000 n", rb"0000001\1 00000 n", PLAIN),
    "wrong startxref": lambda: re.sub(rb"startxref\s+\d+", b"startxref\n7", PLAIN),
    "narrow entries": lambda: PLAIN.replace(b" n \n", b" n\n").replace(b" f \n", b" f\n"),
    "cut off": lambda: PLAIN[: PLAIN.rindex(b"xref\n", 0, -40) + 20] + b"\ntrailer <</Root 1 0 R>>",
}


@pytest.mark.parametrize("structure", STRUCTURES)
def test_extended_as_it_is_to_the_highest_level(
    structure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cross-reference is of the file's own kind. What the service added needs no comparison by pyHanko, which
    would take seconds in a large file."""
    pdf = STRUCTURES[structure]()
    result = highest(pdf, tmp_path)
    assert result.method == "incremental" and result.content.startswith(pdf)
    added = result.content[len(pdf) :]
    assert (b"/Type /XRef" in added, b"\ntrailer\n" in added) == ("streams" in structure, "streams" not in structure)
    assert b"/XRefStm" not in added
    assert_mark(pdf, marked(pdf))
    monkeypatch.setattr(SignedFile, "objections", lambda *_: "pyHanko was asked")
    found = verify(result.content, ROOTS)
    assert found.ok and found.level == "B-LTA" and found.covers_whole_file
    assert not verify(result.content + b"%%EOF\n", ROOTS).ok


@pytest.mark.parametrize("structure", DAMAGED)
def test_damaged_files_are_rewritten(structure: str, tmp_path: Path) -> None:
    pdf = DAMAGED[structure]()
    assert highest(pdf, tmp_path).method == "normalised"
    found = inspect(pdf, page_limit=9)
    assert found.method == "normalised" and found.prepared
    assert whole(found.prepared).method == "incremental"
    assert_mark(found.prepared, marked(found.prepared))


@pytest.mark.parametrize("strength", [3, 4, 6])
def test_what_is_added_to_an_encrypted_file_is_encrypted(strength: Literal[3, 4, 6]) -> None:
    pdf = encrypted(strength)
    content = sealed(pdf, reason="a reason in the clear").content
    assert b"a reason in the clear" not in content
    with pikepdf.open(BytesIO(content)) as document:
        assert document.is_encrypted
        assert str(document.Root.AcroForm.Fields[-1].V.Reason) == "a reason in the clear"


def test_what_cannot_be_sealed_is_refused_with_a_sentence() -> None:
    for pdf, sentence in (
        (paper(WORDS, encryption=Encryption(owner="o", user="u")), r"password"),
        (with_integrity_code(), r"integrity code"),
        *((each, r"^The PDF .*\.$") for each in (b"", b"%PDF-", b"%PDF-1.4\n%%EOF", b"no PDF at all", PLAIN[:100])),
    ):
        with pytest.raises(SealError, match=sentence):
            sealed(pdf)
    with pytest.raises(SealError, match="page 3"):
        sealed(PLAIN, appearances=pictures(), marks=[Mark(3, 0, 0, 10, 10, RED)])


@pytest.mark.parametrize("where", ["direct", "indirect form", "indirect fields"])
def test_the_form_of_the_file_stays(where: str, tmp_path: Path) -> None:
    def fill(document: pikepdf.Pdf) -> None:
        page = document.pages[0].obj
        field = Dictionary(
            FT=Name.Tx, T="Seal", V="kept", Type=Name.Annot, Subtype=Name.Widget, Rect=Array([0, 0, 9, 9])
        )
        widget = document.make_indirect(field)
        page.Annots = document.make_indirect(Array([widget])) if where != "direct" else Array([widget])
        fields = document.make_indirect(Array([widget])) if where == "indirect fields" else Array([widget])
        form = Dictionary(Fields=fields, NeedAppearances=True, DA="/Helv 0 Tf")
        document.Root.AcroForm = document.make_indirect(form) if where != "direct" else form

    result = whole(paper(WORDS, prepare=fill))
    assert_trusted(result.content, tmp_path)
    with pikepdf.open(BytesIO(result.content)) as document:
        form = document.Root.AcroForm
        assert [str(field.T) for field in form.Fields] == ["Seal", "Seal 2"]
        assert str(form.Fields[0].V) == "kept"
        assert form.NeedAppearances and int(form.SigFlags) == 3 and str(form.DA) == "/Helv 0 Tf"
        shown = [item.Subtype for item in document.pages[0].obj.Annots]
        assert shown == [Name.Widget, Name.Stamp, Name.Widget]  # poppler draws fields anew, but no signature's picture


def same_page_twice(document: pikepdf.Pdf) -> None:
    document.Root.Pages.Kids.append(document.Root.Pages.Kids[0])
    document.Root.Pages.Count = 2


UNEXTENDABLE: dict[str, Callable[[], bytes]] = {
    "a byte before the header": lambda: b"\n" + PLAIN,
    "an answer of HTTP": lambda: b"HTTP/1.1 200 OK\r\n\r\n" + PLAIN,
    "the same page twice": lambda: paper(WORDS, prepare=same_page_twice),
}


@pytest.mark.parametrize("kind", UNEXTENDABLE)
def test_what_cannot_be_extended_is_rewritten(kind: str, tmp_path: Path) -> None:
    result = whole(UNEXTENDABLE[kind]())
    assert result.method == "normalised"
    assert_trusted(result.content, tmp_path)


def test_a_document_of_a_thousand_pages(tmp_path: Path) -> None:
    pdf = paper(*[text(f"Page {number}", 72, 700) for number in range(1000)])
    assert_trusted(whole(pdf).content, tmp_path)


@pytest.mark.parametrize("tabs", ["", "/S", "/R", "/Unstructured"])
@pytest.mark.parametrize("signed", [False, True])
def test_pages_of_tagged_files_that_get_an_annotation_are_ordered_by_structure(tabs: str, signed: bool) -> None:
    def prepare(document: pikepdf.Pdf) -> None:
        document.Root.StructTreeRoot = document.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.StructTreeRoot))
        for each in document.pages if tabs else ():
            each.obj.Tabs = pikepdf.Name(tabs)

    pages = [text("one", 50, 50), text("two", 50, 50)]
    marks = {"appearances": pictures(), "marks": [Mark(1, 10, 10, 100, 50, RED)], "timestamping": timestamping()}
    content = sealed(paper(*pages, prepare=prepare), **marks).content
    if signed:
        content = sealed(content, **marks).content
    with pikepdf.open(BytesIO(content)) as document:
        first, second = document.pages
        assert first.obj.Tabs == "/S" and len(first.obj.Annots) == 1 + signed
        assert second.obj.get("/Tabs", "") == tabs and "/Annots" not in second.obj
    untagged = paper(*pages, page={"/Tabs": pikepdf.Name(tabs)} if tabs else {})
    with pikepdf.open(BytesIO(sealed(untagged, **marks).content)) as document:
        assert all(each.obj.get("/Tabs", "") == tabs for each in document.pages)


LETTER = paper(WORDS, WORDS, page={"/Rotate": 90, "/CropBox": [50, 40, 500, 700]})


@pytest.mark.parametrize("overlay", [None, Overlay(WATERMARK)])
def test_both_signatures_are_valid_and_what_was_signed_stays(overlay: Overlay | None, tmp_path: Path) -> None:
    other = authority("rsa-3072")
    first = sealed(LETTER, key=other.sealing_key).content
    second = sealed(first, appearances=pictures(), marks=MARKS, page_overlay=overlay).content
    assert second.startswith(first)
    assert [status.bottom_line for status in statuses_by_pyhanko(second, *ROOTS, other.root)] == [True, True]
    (tmp_path / "sealed.pdf").write_bytes(second)
    said = independent.pdfsig(tmp_path / "sealed.pdf", root_file(tmp_path)).split("Signature #")
    assert all("Signature is Valid" in part for part in said[1:])
    assert all("Total document signed" in part for part in said[2:])
    # Asked for the same certificate twice, poppler calls it trusted only once.
    assert any("Certificate is Trusted" in part for part in said[2:])
    with pikepdf.open(BytesIO(first)) as old, pikepdf.open(BytesIO(second)) as new:
        for before, after in zip(old.pages, new.pages, strict=True):
            assert before.obj.Contents.read_raw_bytes() == after.obj.Contents.read_raw_bytes()


def test_marks_show_upright_in_place() -> None:
    first = sealed(LETTER).content
    assert_mark(first, sealed(first, appearances=pictures(), marks=MARKS).content)
    both = page_of(sealed(first, appearances=pictures(), marks=MARKS, page_overlay=Overlay(WATERMARK)).content)
    assert colour_at(both, X + WIDTH / 2, Y + HEIGHT / 2) == (255, 0, 0)
    assert colour_at(both, both.width / 4, both.height / 4 - 17 * both.height / 2 / 842) == (0, 255, 255)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_certification(level: int) -> None:
    """No level of certification permits the field that a seal adds, nor a stamp."""
    with pytest.raises(SealError, match="permits no further seal"):
        sealed(earlier(Random(level), level=level))


@pytest.mark.parametrize("ahead", [0, 1, 3, 7, 20])
def test_what_is_missing_stays_missing(ahead: int) -> None:
    """Some programs refer to an object that they never write, with a number that the next program would take."""
    placeholder = "/Missing".ljust(20, "x")

    def prepare(document: pikepdf.Pdf) -> None:
        document.Root.Elsewhere = pikepdf.Name(placeholder)

    letter = paper(WORDS, prepare=prepare)
    (size,) = re.findall(rb"/Size (\d+)", letter)
    missing = int(size) + ahead
    signed = sealed(letter.replace(placeholder.encode(), (b"%d 0 R" % missing).ljust(20))).content
    again = sealed(signed, appearances=pictures(), marks=MARKS).content
    for content in (signed, again):
        assert PdfReader(content).object(Ref(missing)) is None
        assert verify(content, ROOTS).ok
