"""What the service takes and seals verifies, however expensive it is to read or to draw. What it adds after its seal is
never an alteration, whatever else in the file refers to the objects that an archive timestamp extends."""

import io
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from random import Random

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String

from paraph.kernel import clock
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.sealing.seal import Mark
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.verify import verify as sandboxed
from paraph.pdf.verification.verify import verify
from tests.pdf.costly import KINDS
from tests.pdf.levels import long_term
from tests.pdf.odd_files.signed import broken
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import RED, authority, pictures, sealed, timestamping

LETTER = paper(text("To whom it may concern", 72, 700), text("Second page", 72, 700))
ROOT = authority("p-256").root

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


def saved(pdf: pikepdf.Pdf) -> bytes:
    file = io.BytesIO()
    pdf.save(file, object_stream_mode=pikepdf.ObjectStreamMode.disable)
    return file.getvalue()


def from_a_page(pdf: pikepdf.Pdf, target: str) -> bytes:
    pdf.pages[1].obj.Other = TARGETS[target](pdf)
    return saved(pdf)


def from_a_program(pdf: pikepdf.Pdf, target: str) -> bytes:
    pdf.pages[1].obj.PieceInfo = pdf.make_indirect(Dictionary(Program=TARGETS[target](pdf)))
    return saved(pdf)


def in_a_title(pdf: pikepdf.Pdf, target: str) -> bytes:
    pdf.docinfo["/Title"] = "see 1000000 0 R"
    content = saved(pdf)
    return content.replace(b"1000000", b"%07d" % number_of(content, target))


def in_a_comment(pdf: pikepdf.Pdf, target: str) -> bytes:
    content = saved(pdf)
    return content.replace(b"startxref", b"%% %d 0 R\nstartxref" % number_of(content, target))


def number_of(content: bytes, target: str) -> int:
    with pikepdf.open(io.BytesIO(content)) as pdf:
        number: int = TARGETS[target](pdf).objgen[0]
    assert number, "it is an object of its own"
    return number


PLACES = {each.__name__: each for each in (from_a_page, from_a_program, in_a_title, in_a_comment)}


def archived(upload: bytes) -> bytes:
    """Seal the upload at B-LTA, in the form in which it was shown, with a stamp."""
    shown = inspect(upload, page_limit=10).prepared or upload
    marks = [Mark(1, 100, 100, 100, 50, RED)]
    return sealed(
        shown, appearances=pictures(), marks=marks, at=clock.now(), timestamping=timestamping(), long_term=long_term()
    ).content


@pytest.mark.parametrize(("target", "place"), list(product(TARGETS, PLACES)))
def test_whatever_refers_to_what_an_archive_timestamp_extends(target: str, place: str) -> None:
    pdf = pikepdf.open(io.BytesIO(LETTER)) if target == "catalog" else filled_in()  # sealing adds a form to the catalog
    found = verify(archived(PLACES[place](pdf, target)), [ROOT])
    assert found.sound and found.level == "B-LTA" and not found.altered, found.findings


def signed_before(target: str) -> bytes:
    """Return a signed letter whose comment refers to an object of the signature; its signer did not check that."""
    number = number_of(sealed(LETTER).content, target)
    return sealed(LETTER.replace(b"startxref", b"%% %d 0 R\nstartxref" % number), clean_contents=True).content


def test_beside_an_earlier_signature_the_catalog_stays_as_it_is() -> None:
    found = verify(archived(signed_before("catalog")), [ROOT])
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
    told = [each for content in contents for each in verify(content, [ROOT]).findings]
    assert not any("changed after Seal" in each for each in told)


REFUSED = ("too_complex", "damaged")  # with a sentence


def is_taken(upload: bytes) -> bool:
    """Return whether the file is taken; if so, assert that it verifies once it is sealed at B-LTA."""
    try:
        shown = inspect(upload, page_limit=500).prepared or upload
    except PdfRefused as refused:
        assert refused.reason in REFUSED
        return False
    content = sealed(shown, at=clock.now(), timestamping=timestamping(), long_term=long_term()).content
    found = sandboxed(content, [ROOT])
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
