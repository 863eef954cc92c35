"""What may follow a trusted seal, and how verification describes it; `lab/fuzz/altered` makes what may not follow.

What the service takes and seals verifies, however expensive it is to read or to draw; what it adds after its seal is
never an alteration, whatever else in the file refers to the objects that an archive timestamp extends."""

import io
import re
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from random import Random
from typing import Any

import pikepdf
import pytest
from cryptography import x509
from pikepdf import Array, Dictionary, Name, ObjectStreamMode, String

from paraph.kernel import clock
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.objects import PdfStream
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.verify import verify as sandboxed
from paraph.pdf.verification import pictures
from paraph.pdf.verification.pictures import Compared, DrawingTime, compare_pictures
from paraph.pdf.verification.verify import verify
from tests.pdf import forge, revisions
from tests.pdf.costly import KINDS
from tests.pdf.levels import sealed_at_the_highest
from tests.pdf.odd_files.signed import broken
from tests.pdf.pdf_factory import paper, saved, text
from tests.pdf.sealed_files import DRAWING, OWN, ROOTS, sealed

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
    assert verify(revisions.archived(with_extension(content, entries)), ROOTS).ok is ok


def test_without_roots_a_visible_countersignature_is_no_alteration() -> None:
    visible = countersigned(sealed_at_the_highest(contract()), box=BOX)
    first = verify(visible, []).signatures[0]
    assert not first.altered and first.matches is None


LETTER = paper(text("To whom it may concern", 72, 700), text("Second page", 72, 700))

TARGETS: dict[str, Callable[[pikepdf.Pdf], pikepdf.Object]] = {
    "catalog": lambda pdf: pdf.Root,
    "form": lambda pdf: pdf.Root.AcroForm,
    "fields": lambda pdf: pdf.Root.AcroForm.Fields,
    "annotations": lambda pdf: pdf.pages[0].obj.Annots,
}


def filled_in() -> pikepdf.Pdf:
    """Return a letter with a form whose parts are objects of their own."""
    pdf = pikepdf.open(io.BytesIO(LETTER))
    page = pdf.pages[0].obj
    widget = Dictionary(Type=Name.Annot, Subtype=Name.Widget, FT=Name.Tx, T=String("x"), Rect=[10, 10, 60, 30], P=page)
    field = pdf.make_indirect(widget)
    page.Annots = pdf.make_indirect(Array([field]))
    pdf.Root.AcroForm = pdf.make_indirect(Dictionary(Fields=pdf.make_indirect(Array([field]))))
    return pdf


def from_a_page(pdf: pikepdf.Pdf, target: str) -> bytes:
    pdf.pages[1].obj.Other = TARGETS[target](pdf)
    return saved(pdf, object_stream_mode=ObjectStreamMode.disable)


def from_a_program(pdf: pikepdf.Pdf, target: str) -> bytes:
    pdf.pages[1].obj.PieceInfo = pdf.make_indirect(Dictionary(Program=TARGETS[target](pdf)))
    return saved(pdf, object_stream_mode=ObjectStreamMode.disable)


def in_a_title(pdf: pikepdf.Pdf, target: str) -> bytes:
    pdf.docinfo["/Title"] = "see 1000000 0 R"
    content = saved(pdf, object_stream_mode=ObjectStreamMode.disable)
    return content.replace(b"1000000", b"%07d" % number_of(content, target))


def in_a_comment(pdf: pikepdf.Pdf, target: str) -> bytes:
    content = saved(pdf, object_stream_mode=ObjectStreamMode.disable)
    return content.replace(b"startxref", b"%% %d 0 R\nstartxref" % number_of(content, target))


def number_of(content: bytes, target: str) -> int:
    with pikepdf.open(io.BytesIO(content)) as pdf:
        number: int = TARGETS[target](pdf).objgen[0]
    assert number, "it is an object of its own"
    return number


PLACES = {each.__name__: each for each in (from_a_page, from_a_program, in_a_title, in_a_comment)}


def archived(upload: bytes) -> bytes:
    """Seal the upload at B-LTA, in the form in which it was shown, with a mark and a watermark."""
    shown = inspect(upload, page_limit=10).prepared or upload
    return sealed_at_the_highest(shown, **DRAWING)


@pytest.mark.parametrize(("target", "place"), list(product(TARGETS, PLACES)))
def test_whatever_refers_to_what_an_archive_timestamp_extends(target: str, place: str) -> None:
    pdf = pikepdf.open(io.BytesIO(LETTER)) if target == "catalog" else filled_in()  # sealing adds a form to the catalog
    found = verify(archived(PLACES[place](pdf, target)), ROOTS)
    assert found.sound and found.level == "B-LTA" and not found.altered, found.findings


def signed_before(target: str) -> bytes:
    """Return a signed letter whose comment refers to an object of the signature; its signer did not check that."""
    number = number_of(sealed(LETTER).content, target)
    return sealed(LETTER.replace(b"startxref", b"%% %d 0 R\nstartxref" % number), clean_contents=True).content


def test_beside_an_earlier_signature_the_catalog_stays_as_it_is() -> None:
    found = verify(archived(signed_before("catalog")), ROOTS)
    assert found.sound and not any("changed after Seal 2" in each for each in found.findings)


def test_an_upload_whose_form_must_stay_and_is_referred_to_is_refused() -> None:
    with pytest.raises(PdfRefused, match="cannot be sealed"):
        inspect(signed_before("form"), page_limit=10)


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 160), marks=pytest.mark.thorough)])
def test_after_broken_signatures(seeds: range) -> None:
    """Each signature is broken in another way; one that nobody could take for a signature is not refused."""
    contents = []
    for seed in seeds:
        with suppress(PdfRefused):
            contents.append(archived(broken(Random(seed))))
    assert len(contents) > len(seeds) / 6
    told = [each for content in contents for each in verify(content, ROOTS).findings]
    assert not any("changed after Seal" in each for each in told)


REFUSED = ("too_complex", "damaged")  # with a sentence


def is_taken(upload: bytes) -> bool:
    """Return whether the file is taken; if so, assert that it verifies once it is sealed at B-LTA."""
    try:
        shown = inspect(upload, page_limit=500).prepared or upload
    except PdfRefused as refused:
        assert refused.reason in REFUSED
        return False
    found = sandboxed(sealed_at_the_highest(shown), ROOTS)
    assert found.ok, found.findings
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_a_little_of_each_is_taken(kind: str) -> None:
    assert is_taken(KINDS[kind](1))


def test_a_page_that_needs_more_memory_than_verifying_has_is_not_taken() -> None:
    """The page nests forms within 1.4 KB: PDFium keeps each of a million drawings."""
    assert not is_taken(KINDS["forms"](1200))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_taken_verifies(kind: str) -> None:
    began = time.monotonic()
    for doublings in range(1, 10):
        if not is_taken(KINDS[kind](2**doublings)) or time.monotonic() - began > 15:
            break
