"""The targets of fuzzing. Each takes any bytes and ends with an answer or with the refusal that it documents; any other
end is a find."""

import io
import os
from collections.abc import Callable
from contextlib import suppress

import pikepdf

from paraph.keys import KeyKind
from paraph.pdf.pki.cms import CmsRefused, check_signature, read_signed_data
from paraph.pdf.pki.der import DerError, read
from paraph.pdf.refusal import PdfRefused, SealError
from paraph.pdf.sealing.seal import Mark, Overlay
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.pages import geometry_of, pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.timestamps.timestamp import TokenRefused, check_token
from paraph.pdf.untrusted.jobs import inspect_job, signature_lines_job, text_job
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks.fast_scan import fast_scan
from paraph.pdf.untrusted.jobs.upload_checks.preflight import read_behaviour
from paraph.pdf.untrusted.passive import NO_ACTIONS
from paraph.pdf.verification.verify import verify
from tests.pdf.odd_files import CLASSES, odd_files
from tests.pdf.pairs import check_pair
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import RED, WATERMARK, authority, pictures, sealed, timestamping
from tests.pdf.structures import a_file_of_each_structure
from tests.pdf.surroundings import ODD_STORES, signature, signed_by, with_store
from tests.pdf.untrusted.test_fast_scan import files_with_actions

_KEY: KeyKind = "p-256"
_LARGEST = 64 * 1024  # bytes: larger inputs are slow and find nothing more


def inspect(data: bytes) -> None:
    """Run the checks of an upload as inside the sandbox: they may refuse the file with a reason, but must not raise any
    other error, hang, or end the process."""
    with suppress(PdfRefused, MemoryError, RecursionError), _source(data) as source:
        inspect_job.inspect(source, page_limit=20)


def actions(data: bytes) -> None:
    """Check that the fast scan misses no script, layer, annotation or bomb that the full examination finds in a file
    that qpdf reads as written; the full examination decides about all other files."""
    passive = None
    with suppress(Exception), _source(data) as source:
        passive = fast_scan(source)
    if passive and passive.passive:
        counted, burst = None, False
        try:
            with suppress(pikepdf.PikepdfError, ValueError, RuntimeError), _source(data) as source:
                if not source.is_read_as_written():
                    return
                counted = read_behaviour(source, passive=False)
                if passive.may_draw_annotations:  # then the full examination decides
                    counted = {name: counted[name] for name in NO_ACTIONS}
        except PdfRefused as refused:  # the fast scan need not notice what pikepdf cannot read
            burst = refused.reason == "too_complex"
        assert not burst, "overlooked: a bomb"
        assert counted is None or not any(counted.values()), f"overlooked: {counted}"


def find(data: bytes) -> None:
    """Run the search for given tags as inside the sandbox, which may raise but must not hang or end the process."""
    with suppress(Exception), _source(data) as source:
        text_job.find(source, ["{{sign1}}", "sign"])


def places(data: bytes) -> None:
    """Run the searches for any tags, texts and signature lines, on the same terms as :func:`find`."""
    for search in (text_job.list_tags, text_job.list_texts, signature_lines_job.list_signature_lines):
        with suppress(Exception), _source(data) as source:
            search(source)


def own_reader(data: bytes) -> None:
    """Read the pages with our own reader, which sealing trusts."""
    with suppress(Unsafe, SealError, *CONFUSED):
        reader = PdfReader(data)
        for page in pages(reader):
            geometry_of(reader, page)


def seal(data: bytes) -> None:
    """Check that an accepted upload is sealed, verifies, and looks the same to PDFium. Then seal any file with marks,
    even one that would be refused: unless it is normalised, the sealed file begins with its upload."""
    check_pair(data, poppler=False)
    marks = [Mark(1, 50, 50, 100, 50, RED)]
    try:
        made = sealed(data, appearances=pictures(), marks=marks, page_overlay=Overlay(WATERMARK))
    except SealError:
        return
    if made.method != "normalised":
        assert made.content.startswith(data)


def judge(data: bytes) -> None:
    """Verify the file: none that was changed after sealing may be valid as a whole."""
    found = verify(data, [authority(_KEY).root])
    assert isinstance(found.findings, list)
    if found.ok and found.covers_whole_file:
        assert data in _seeds_of_judge(), "a changed file passes for whole"


def token(data: bytes) -> None:
    """Check timestamp tokens and any other CMS."""
    with suppress(TokenRefused):
        check_token(data, lambda name: b"\0" * {"sha256": 32, "sha384": 48, "sha512": 64}[name])
    with suppress(CmsRefused):
        check_signature(read_signed_data(data), lambda _name: b"")
    with suppress(DerError):
        read(data)


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (inspect, actions, find, places, own_reader, seal, judge, token)
}


def run(target: Callable[[bytes], None], data: bytes) -> None:
    if len(data) <= _LARGEST:
        target(data)


def seeds(name: str) -> list[bytes]:
    """Return the files with which fuzzing of a target begins."""
    if name == "token":
        stamp = sealed(a_file_of_each_structure()[0], timestamping=timestamping()).timestamp
        assert stamp
        return [stamp.token]
    if name == "judge":
        return _seeds_of_judge()
    if name == "places":
        blank = text("Signature: ____________", 72, 300) + text("{{sign}}", 72, 500) + "72 200 m 300 200 l S\n"
        turned = {"/Rotate": 90, "/UserUnit": 2.0}
        return [paper(blank + text("Signature", 72, 190, 8)), paper(blank, page=turned), *a_file_of_each_structure()]
    if name == "actions":
        return [*a_file_of_each_structure(), *files_with_actions()]
    return a_file_of_each_structure()


def more_seeds(name: str) -> list[bytes]:
    """Return more files to begin with, which have a test of their own, :mod:`tests.pdf.test_pairs`."""
    return [pdf for _, pdf in odd_files(len(CLASSES))] if name in ("seal", "inspect", "own_reader") else []


def _seeds_of_judge() -> list[bytes]:
    if not _judged:
        signed_before = [signed_by(signature(ByteRange=None)), with_store(ODD_STORES["garbage"])]
        files = [*a_file_of_each_structure()[:2], *signed_before]
        _judged.extend(sealed(pdf, timestamping=timestamping()).content for pdf in files)
    return _judged


_judged: list[bytes] = []


def _source(data: bytes) -> UntrustedFile:
    descriptor = os.memfd_create("fuzz")
    with io.FileIO(descriptor, "wb", closefd=False) as file:
        file.write(data)
    return UntrustedFile(descriptor)
