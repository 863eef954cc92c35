"""What may follow a trusted seal, and how verification describes it; `lab/fuzz/altered` makes what may not follow."""

import re
from typing import Any

import pikepdf
import pytest
from cryptography import x509
from pikepdf import Dictionary, Name, ObjectStreamMode

from paraph.kernel import clock
from paraph.pdf.structure.objects import PdfStream
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.verification import pictures
from paraph.pdf.verification.pictures import Compared, DrawingTime, compare_pictures
from paraph.pdf.verification.verify import verify
from tests.pdf import forge, revisions
from tests.pdf.pdf_factory import paper, text
from tests.pdf.revisions import archived
from tests.pdf.sealed_files import authority, sealed
from tests.pdf.verification.test_verify_surroundings import sealed_at_the_highest

OWN = authority("p-256")
ROOTS = [OWN.root]
BOX = (300, 100, 400, 150)
PAGES = (text("A contract", 100, 700), text("Page two", 100, 700))


def contract(**save: Any) -> bytes:
    return paper(*PAGES, **save)


def countersigned(pdf: bytes, **field: Any) -> bytes:
    """Sign the file once more, by a person whose certificate is below the root of the tests."""
    key, issuer = forge.curve_key("Jonas Brandt"), x509.load_der_x509_certificate(OWN.root).subject
    own = forge.certificate("Jonas Brandt", key, issuer, OWN.root_key.private_key)
    return revisions.countersigned(pdf, key, own, **field)


@pytest.mark.parametrize("mode", [ObjectStreamMode.disable, ObjectStreamMode.generate])
def test_a_visible_countersignature_that_is_trusted_is_told(mode: ObjectStreamMode) -> None:
    content = countersigned(sealed_at_the_highest(contract(object_stream_mode=mode)), box=BOX, on_page=1)
    found = verify(content, ROOTS)
    assert found.ok and found.signer == "Jonas Brandt", found.findings
    assert 'A signature by "Jonas Brandt" was added on page 2, visible (Countersigned).' in found.findings
    assert not any(report.altered for report in found.signatures)
    invisible = verify(countersigned(sealed_at_the_highest(contract())), ROOTS)
    assert invisible.ok and 'A signature by "Jonas Brandt" was added (Countersigned).' in invisible.findings


@pytest.mark.parametrize("mode", [ObjectStreamMode.disable, ObjectStreamMode.generate])
def test_archive_timestamps_by_another_program(mode: ObjectStreamMode) -> None:
    def titled(document: pikepdf.Pdf) -> None:
        document.docinfo = document.make_indirect(Dictionary(Title="Contract", Creator="\u00c4 program"))
        with document.open_metadata(set_pikepdf_as_editor=False) as metadata:
            metadata["dc:title"] = "Contract"
            metadata["dc:creator"] = ["Ada", "Jonas"]

    content = sealed_at_the_highest(contract(prepare=titled, object_stream_mode=mode))
    found = verify(archived(archived(content)), ROOTS)
    assert found.ok and found.covers_whole_file and [report.kind for report in found.signatures[1:]] == [
        "document timestamp"
    ] * 3  # fmt: skip


def test_equal_files_that_look_different_are_told_apart() -> None:
    one, other = contract(), paper(PAGES[0], text("Page 2", 100, 700))
    assert compare_pictures(one, one, [], DrawingTime()) == compare_pictures(one, contract(), [], DrawingTime())
    found = compare_pictures(one, other, [], DrawingTime())
    assert found is not None and found.different == 2
    fewer = compare_pictures(one, paper(PAGES[0]), [], DrawingTime())
    assert fewer is not None and fewer.different == 2
    assert compare_pictures(b"%PDF-1.7", one, [], DrawingTime()) is None
    broken = compare_pictures(one, b"%PDF-1.7", [], DrawingTime())
    assert broken is not None and broken.different


def test_drawing_ends_when_its_time_is_over() -> None:
    over = DrawingTime(-1)
    assert compare_pictures(contract(), contract(), [], over) == Compared(0, 2)
    found = verify(sealed_at_the_highest(contract()), ROOTS, drawing=over)
    assert found.ok
    assert "Of its 2 pages the first 0 were drawn and compared with those at Seal." in found.findings


def test_readers_that_see_another_page_speak_against_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pictures are a second opinion: here they are of another file than the objects."""
    content = sealed_at_the_highest(contract())
    assert verify(content, ROOTS).ok
    other = sealed_at_the_highest(paper(PAGES[0], text("Page 2", 100, 700)))
    monkeypatch.setattr(
        "paraph.pdf.verification.verify.compare_pictures",
        lambda before, _, shown, drawing: compare_pictures(before, other, shown, drawing),
    )
    found = verify(content, ROOTS)
    assert found.altered and not found.ok and "Page 2 looks different from what it was at Seal." in found.findings


def test_an_end_that_cannot_be_read_is_judged_up_to_the_seal() -> None:
    content = sealed_at_the_highest(contract())
    start = int(re.findall(rb"startxref\s+(\d+)", content)[-1])
    appended = b"9000 0 obj\n<<>>\nendobj\nstartxref\n%d\n%%%%EOF\n" % (start + 1)
    found = verify(content + appended, ROOTS)
    assert found.signer == "Paraph Development Seal" and found.intact and found.altered and not found.ok
    assert f"From byte {len(content)} on, no trusted signature or timestamp covers the file." in found.findings


def test_a_shared_list_of_annotations_shows_a_signature_on_each_page() -> None:
    def share(document: pikepdf.Pdf) -> None:
        link = document.make_indirect(
            Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=[0, 0, 9, 9], Border=[0, 0, 0])
        )
        listed = document.make_indirect(pikepdf.Array([link]))
        for page in document.pages:
            page.obj.Annots = listed

    content = sealed_at_the_highest(paper(*PAGES, text("Page 3", 100, 700), prepare=share))
    assert verify(content, ROOTS).ok
    found = verify(countersigned(content, box=BOX, on_page=1), ROOTS)
    assert found.ok
    assert 'A signature by "Jonas Brandt" was added on pages 2, 3, visible (Countersigned).' in found.findings


def test_what_pdfium_remembers_makes_no_page_different(monkeypatch: pytest.MonkeyPatch) -> None:
    """PDFium's first picture of a page may differ from the next: here each picture does until PDFium begins anew."""
    content, drawn = sealed_at_the_highest(contract()), []
    picture = pictures._picture

    def remembered(document: Any, index: int, rectangles: Any) -> object:
        drawn.append(index)
        return len(drawn) if not anew else picture(document, index, rectangles)

    anew: list[bool] = []
    monkeypatch.setattr(pictures, "_picture", remembered)
    monkeypatch.setattr(pictures, "begin_anew", lambda: anew.append(True))
    assert verify(content, ROOTS).ok and anew


def with_extension(pdf: bytes, entries: dict[bytes, Any]) -> bytes:
    """Append a revision with ``entries`` among the extensions, and with long-term data as a timestamp needs it."""
    revision = Revision(PdfReader(pdf, is_closed=True))
    root = revision.change(revision.reader.trailer[b"/Root"])
    root[b"/Extensions"] = revision.add({**revision.resolve(root.get(b"/Extensions") or {}), **entries})
    root[b"/DSS"] = {b"/Certs": [revision.add(PdfStream({}, OWN.root))]}
    return pdf + revision.write().text


SCRIPT = {b"/S": b"/JavaScript", b"/JS": b"(app.alert\\(1\\))"}
EXTENSION = {b"/ACME": {b"/BaseVersion": b"/1.7", b"/ExtensionLevel": 1}}


@pytest.mark.parametrize(("entries", "ok"), [(EXTENSION, True), (SCRIPT, False), ({b"/ACME": SCRIPT}, False)])
def test_an_extension_is_one(entries: dict[bytes, Any], ok: bool) -> None:
    content = sealed(contract(), at=clock.now()).content
    assert verify(archived(with_extension(content, entries)), ROOTS).ok is ok


def test_without_roots_a_visible_countersignature_is_no_alteration() -> None:
    visible = countersigned(sealed_at_the_highest(contract()), box=BOX)
    first = verify(visible, []).signatures[0]
    assert not first.altered and first.matches is None
