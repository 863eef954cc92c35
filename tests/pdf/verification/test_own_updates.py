"""What the service adds after its seal is never an alteration, whatever else in the file refers to the objects that an
archive timestamp is about: their kin, in uploads with and without an earlier signature."""

import io
from collections.abc import Callable
from itertools import product
from random import Random

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String

from paraph.kernel import clock
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.sealing.seal import Mark
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.verification.verify import verify
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
    """A form whose parts are objects of their own."""
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


def from_a_page(pdf: pikepdf.Pdf, target: pikepdf.Object) -> bytes:
    pdf.pages[1].obj.Other = target
    return saved(pdf)


def from_a_program(pdf: pikepdf.Pdf, target: pikepdf.Object) -> bytes:
    pdf.pages[1].obj.PieceInfo = pdf.make_indirect(Dictionary(Program=target))
    return saved(pdf)


def in_a_title(pdf: pikepdf.Pdf, target: pikepdf.Object) -> bytes:
    """Numbers stay as they are when a file is saved again."""
    again, which = pikepdf.open(io.BytesIO(saved(pdf))), next(n for n, of in TARGETS.items() if of(pdf) == target)
    again.docinfo["/Title"] = f"see {TARGETS[which](again).objgen[0]} 0 R"
    return saved(again)


def in_a_comment(pdf: pikepdf.Pdf, target: pikepdf.Object) -> bytes:
    which = next(name for name, of in TARGETS.items() if of(pdf) == target)
    content = saved(pdf)
    number = TARGETS[which](pikepdf.open(io.BytesIO(content))).objgen[0]
    return content.replace(b"startxref", b"%% %d 0 R\nstartxref" % number)


PLACES = {each.__name__: each for each in (from_a_page, from_a_program, in_a_title, in_a_comment)}


def archived(upload: bytes) -> bytes:
    """Sealed at B-LTA as it was shown, with a stamp."""
    shown = inspect(upload, page_limit=10).prepared or upload
    marks = [Mark(1, 100, 100, 100, 50, RED)]
    return sealed(
        shown, appearances=pictures(), marks=marks, at=clock.now(), timestamping=timestamping(), long_term=long_term()
    ).content


@pytest.mark.parametrize(("target", "place"), list(product(TARGETS, PLACES)))
def test_whatever_refers_to_what_an_archive_timestamp_is_about(target: str, place: str) -> None:
    pdf = filled_in()
    found = verify(archived(PLACES[place](pdf, TARGETS[target](pdf))), [ROOT])
    assert found.sound and found.level == "B-LTA" and not found.altered, found.findings


@pytest.mark.parametrize("of", [name for name in TARGETS if name != "annotations"])
def test_beside_an_earlier_signature_it_holds_or_the_upload_is_refused(of: str) -> None:
    """Its form has to stay the object that it is, so what else refers to that cannot be helped."""
    before = pikepdf.open(io.BytesIO(sealed(LETTER).content))
    number = TARGETS[of](before).objgen[0] or TARGETS["form"](before).objgen[0]
    upload = sealed(LETTER.replace(b"startxref", b"%% %d 0 R\nstartxref" % number)).content
    if of == "catalog":
        assert not any("changed after Seal 2" in each for each in verify(archived(upload), [ROOT]).findings)
    else:
        with pytest.raises(PdfRefused, match="cannot be sealed"):
            inspect(upload, page_limit=10)


@pytest.mark.parametrize("seed", range(40))
def test_after_a_broken_signature(seed: int) -> None:
    try:
        content = archived(broken(Random(seed)))
    except PdfRefused:
        return
    assert not any("changed after Seal" in each for each in verify(content, [ROOT]).findings)
