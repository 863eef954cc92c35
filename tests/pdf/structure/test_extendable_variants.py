"""What is done to a file before anybody signs it: forms that can be extended, the second opinion, the dry run."""

import io
import multiprocessing
import re
from typing import Literal

import pikepdf
import pytest
from pikepdf import ObjectStreamMode

from lab.fuzz.altered.waiting_uploads import growing_upload
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.crossreference import misstates_length
from paraph.pdf.structure.normalise import UnreadablePdf, extendable_variants
from paraph.pdf.structure.objects import Unsafe
from paraph.pdf.structure.pages import geometry_of, pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.jobs.inspect_job import LooksDifferent, check_looks
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks.dry_run import marked_boxes, sealed_on_trial
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import Opinion, second_opinion
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import sealed, timestamping

PLAIN = paper(text("I pay 1 EUR", 100, 500), object_stream_mode=ObjectStreamMode.disable)
OTHER = paper(text("I pay 9 EUR", 100, 500), object_stream_mode=ObjectStreamMode.disable)
START = re.findall(rb"startxref\s+(\d+)", PLAIN)[-1]


@pytest.mark.parametrize(
    "tail",
    [
        *(b"startxref\n%b\n%%%%EOF\n" % place for place in (b"", b"abc", b"-5")),
        *(b"startxref", b"startxref\n12", b"7 0 obj\n(x)\nendobj\n", b"trailer\n<</Root 7 0 R>>\n"),
    ],
)
def test_a_broken_end_is_never_passed_over(tail: bytes) -> None:
    with pytest.raises(Unsafe):
        PdfReader(PLAIN + tail)
    assert PdfReader(PLAIN + b"startxref\n" + START + b"\n%%EOF\n").crossreference.start == int(START)


def test_a_signed_file_is_never_rewritten() -> None:
    """Its signatures would be lost, and with them what they say about later changes."""
    damaged = sealed(PLAIN).content.replace(b"/Type /Catalog", b"/Type /Catalog /Typ#65 /Catalog", 1)
    variants = extendable_variants(damaged)
    assert next(variants) == ("incremental", damaged)
    with pytest.raises(UnreadablePdf, match="would break its signatures"):
        list(variants)


def test_each_form_keeps_what_it_can() -> None:
    damaged = PLAIN.replace(b"startxref", b"startxxxx")
    by_method = dict(extendable_variants(damaged))
    assert list(by_method) == ["incremental", "normalised"] and by_method["incremental"] == damaged
    assert len(list(pages(PdfReader(by_method["normalised"])))) == 1
    assert dict(extendable_variants(b"\xef\xbb\xbf" + PLAIN))["normalised"] == PLAIN


def test_our_reader_and_qpdf_agree_or_it_is_noticed() -> None:
    """An unusual end is a reason to look."""
    packed = paper(text("x", 1, 1), object_stream_mode=ObjectStreamMode.generate)
    moved = PLAIN.replace(b"/Rotate", b"/Rotatx").replace(b"[ 0 0 595", b"[ 9 0 595")
    for ours, theirs, expected in (
        (PLAIN, PLAIN, Opinion.SAME),
        (packed, packed, Opinion.SAME),
        (PLAIN, OTHER, Opinion.OTHER),
        (PLAIN, moved, Opinion.OTHER),
        (PLAIN + b"a word", PLAIN + b"a word", Opinion.ODD),
    ):
        with UntrustedFile(content=theirs) as source:
            assert second_opinion(PdfReader(ours), source) is expected


def test_the_dry_run_notices_what_changed_and_what_hides_the_mark() -> None:
    geometries = [geometry_of(page.reader, page) for page in pages(PdfReader(PLAIN))]
    tried, boxes = sealed_on_trial(PLAIN, geometries, [0]), marked_boxes(geometries, [0])
    check_looks(PLAIN, tried, boxes)
    with pytest.raises(LooksDifferent, match="page 1 looks different"):
        check_looks(OTHER, tried, boxes)
    with pytest.raises(LooksDifferent, match="the mark on page 1 cannot be seen"):
        check_looks(PLAIN, PLAIN, boxes)


def test_the_dry_run_bears_with_fonts_that_stand_in_for_missing_ones() -> None:
    """How PDFium draws such fonts depends on what it drew before, in any file. The check therefore runs in a process of
    its own, as each job starts PDFium anew, and not in the process of all tests."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        process.apply(check_files_without_fonts)


def check_files_without_fonts() -> None:
    words = ("I pay 1 EUR", "WWWiii 123", "gable end", "MM,,..ll", "0987 UEE", "bad cafe", "WiWiWi", "E3E3")
    for pdf in (paper(text(each, 100, 500, 36), text(each[::-1], 60, 400, 36)) for each in words):
        without_font = pdf.replace(b"/Helvetica", b"/Nowhereto")
        geometries = [geometry_of(page.reader, page) for page in pages(PdfReader(without_font))]
        boxes = marked_boxes(geometries, [0, 1])
        check_looks(without_font, sealed_on_trial(without_font, geometries, [0, 1]), boxes)


@pytest.mark.parametrize("strength", [3, 4, 6])
def test_an_encrypted_file_that_is_sealed_may_come_again(strength: Literal[3, 4, 6]) -> None:
    """The value of its signature is not encrypted, which readers handle differently; but the value draws nothing."""
    newer = strength > 3
    locked = pikepdf.Encryption(owner="owner", user="", R=strength, aes=newer, metadata=newer)
    made = sealed(paper(text("x", 100, 100), encryption=locked), timestamping=timestamping())
    assert inspect(made.content, page_limit=1).method == "incremental"


def test_an_encrypted_file_that_must_be_rewritten_keeps_its_encryption() -> None:
    locked = paper(text("x", 100, 100), encryption=pikepdf.Encryption(owner="owner", user="", R=6))
    damaged = b"junk\n" + re.sub(rb"startxref\s+\d+", b"startxref\n7", locked)
    inspection = inspect(damaged, page_limit=1)
    assert inspection.method == "normalised" and inspection.prepared
    with pikepdf.open(io.BytesIO(inspection.prepared)) as document:
        assert document.is_encrypted


def test_a_file_that_says_that_it_is_longer_is_written_anew() -> None:
    """Once the file is that long, readers show the pages that its beginning names."""
    prepared = inspect(growing_upload(), page_limit=9)
    assert prepared.method == "normalised" and prepared.prepared
    assert b"/Linearized" not in prepared.prepared and b"9,000,000" not in prepared.prepared


def test_a_signed_file_that_says_that_it_is_longer_is_refused() -> None:
    linearized = paper(text("Words", 100, 700), linearize=True)
    assert inspect(linearized, page_limit=9).method == "incremental"
    signed = sealed(linearized).content
    length = re.findall(rb"/L (\d+)", signed)[0]
    assert inspect(signed, page_limit=9).method == "incremental"
    with pytest.raises(PdfRefused, match="repair"):
        inspect(signed.replace(b"/L " + length, b"/L 9" + length[1:], 1), page_limit=9)


_LINEARIZED = [
    (b"/L 60000", b"/#4c 60000"),
    (b"/L 60000", b"/L%a comment\n+60000"),
    (b"/L 60000", b"/L +60000"),
    (b"/L 60000", b"/L 0000000000000000060000"),
    (b"/L 60000", b"/L 60000.0"),
    (b"/L 60000", b"/L 60000."),
    (b"/L 60000", b"/L 16#EA60"),
    (b"/L 60000", b"/L -60000"),
    (b"/L 60000", b"/L 5 0 R"),
    (b"/L 60000", b"/L [60000]"),
    (b"/L 60000", b"/L 600/L 60000"),
    (b"/L 60000", b"/L(a) /L 60000"),
    (b"/L 60000", b"/A 1"),
    (b"/L 60000", b"/L\x0060000"),
    (b"/L 60000", b"/L\x0c60000"),
    (b"/Linearized 1", b"/Linearized 2"),
    (b"/Linearized 1", b"/Linearized true"),
    (b"/Linearized", b"/Line#61ri#7aed"),
    (b"/Linearized", b"/A(>>)/Linearized"),
    (b"/Linearized", b"/A<3e3e>/B<<>>/Linearized"),
    (b"/H[600 10]", b"/H 5 0 R"),
    (b"10 0 obj", b"10 % a comment\n0 obj"),
    (b"10 0 obj", b"010 0 obj"),
    (b"10 0 obj", b"11 0 obj\n<</Type/Catalog>>\nendobj\n10 0 obj"),
    (b"\n10 0 obj", b" 10 0 obj"),
    (b"\n10 0 obj", b"\n%1 0 obj<</A 1>>\r10 0 obj"),
    (b"\n10 0 obj", b"\n(10 0 obj"),
    (b"\nendobj", b"\nstream\n\nendstream\nendobj"),
]


@pytest.mark.parametrize(("plain", "spelt"), _LINEARIZED)
def test_a_length_is_stated_plainly_or_misstated(plain: bytes, spelt: bytes) -> None:
    upload = growing_upload()
    assert misstates_length(upload) and plain in upload
    assert misstates_length(upload.replace(plain, spelt, 1))


def test_the_length_of_the_first_revision_is_no_misstatement() -> None:
    linearized = paper(text("Words", 100, 700), linearize=True)
    (length,) = re.findall(rb"/L (\d+)", linearized)
    update = b"xref\n0 0\ntrailer\n<</Size 9/Root 1 0 R/Prev 9>>\nstartxref\n%d\n%%%%EOF\n" % len(linearized)
    assert int(length) == len(linearized)
    assert not misstates_length(linearized)
    assert not misstates_length(linearized + update)
    assert misstates_length(linearized[:-40])
    assert misstates_length((linearized + update).replace(length, b"%d" % len(linearized + update), 1))


@pytest.mark.parametrize("size", [4_194_304, 8_388_600])
def test_a_file_without_room_for_more_objects_is_prepared(size: int) -> None:
    upload = paper(text("Words", 100, 700))
    (stated,) = re.findall(rb"/Size \d+", upload)
    full = upload.replace(stated, b"/Size %d" % size, 1)
    found = inspect(full, page_limit=9)
    assert found.method != "incremental" and found.prepared
    assert PdfReader(sealed(full).content).crossreference.next_number < 100
