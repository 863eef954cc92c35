"""The checks of an upload; :mod:`paraph.pdf.untrusted.inspect` defines what is refused and why."""

import ctypes
import re
import time
from contextlib import nullcontext
from typing import Any, NamedTuple

import pikepdf
import pypdfium2
from pypdfium2 import raw

from paraph.pdf.refusal import PdfRefused, SealError, page_not_shown
from paraph.pdf.structure.contents_references import referred_in_contents
from paraph.pdf.structure.crossreference import misstates_length
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, damaged, drawing
from paraph.pdf.untrusted.jobs.upload_checks.disputes import find_disputes
from paraph.pdf.untrusted.jobs.upload_checks.dry_run import SLOW, check_drawing, check_reading
from paraph.pdf.untrusted.jobs.upload_checks.fast_scan import ScannedFile, fast_scan
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.plain_form import Opinion, check_plain_form, second_opinion
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.values import NotPlain
from paraph.pdf.untrusted.jobs.upload_checks.preflight import read_facts
from paraph.pdf.untrusted.jobs.upload_checks.prepared_file import (
    PreparedFile,
    cannot_be_sealed,
    prepare_file,
    read_pages,
    shown_differently,
)
from paraph.pdf.untrusted.passive import PASSIVE, page_facts
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_PROBE = 64  # pixels of the longer side of page 1 in the trial
_UNCLEAR = ("cannot_be_sealed", "shown_differently")
_VERSION = re.compile(rb"%PDF-(\d\.\d)")


class Findings(NamedTuple):
    """What a reader finds in a file. ``facts``: the parts of the preflight report that do not follow from the pages."""

    facts: dict[str, Any]
    file: PreparedFile


def inspect(file: UntrustedFile, page_limit: int) -> JobAnswer:
    """Return ``{"pages": [[width, height], …], "preflight": …, "clean_contents": …, "doubtful": [page, …]}`` and what
    replaces the upload, empty for nothing. ``doubtful``: the numbers of the pages of which no rule says that all
    readers draw them alike."""
    scanned = fast_scan(file)
    document = file.pdfium()
    if len(document) < 1:
        raise PdfRefused("no_pages", "The PDF has no pages.")
    if len(document) > page_limit:
        message = f"The PDF has {len(document)} pages; at most {page_limit} are allowed."
        raise PdfRefused("too_many_pages", message, {"count": len(document), "limit": page_limit})
    try:
        return _inspected(file, document, scanned, page_limit)
    except PdfRefused as refused:  # by another reader than PDFium
        raise (damaged() if refused.reason == "unreadable" else refused) from refused
    except (pikepdf.PikepdfError, pypdfium2.PdfiumError, RuntimeError) as error:
        raise damaged() from error


def _inspected(
    file: UntrustedFile, document: pypdfium2.PdfDocument, scanned: ScannedFile | None, page_limit: int
) -> JobAnswer:
    began = time.process_time()
    findings = None
    if scanned and scanned.passive and not scanned.may_draw_annotations:
        findings = read_by_own_reader(scanned.reader, page_limit)
        if findings and len(findings.file.pages) != len(document):
            findings = None
    check_drawing(document, findings.file.reader if findings else None, findings.file.nodes if findings else [])
    if findings and second_opinion(findings.file.reader, file) is not Opinion.SAME:
        findings = None
    sound = findings is not None
    facts, found = findings or read_by_pikepdf(file, page_limit, scanned)
    _try_first_page(document)
    with UntrustedFile(content=found.content) if found.content else nullcontext(file) as shown:
        try:
            if referred_in_contents(found.reader, found.nodes):
                raise shown_differently()
            disputes = find_disputes(found.reader, shown, found.nodes, found.pages, found.plain)
        except (Unsafe, *CONFUSED) as error:
            raise damaged() from error
        if not sound or time.process_time() - began > SLOW:
            try:
                check_reading(shown.whole, found.pages)
            except (Unsafe, SealError, *CONFUSED) as error:
                raise cannot_be_sealed() from error
    sizes = [(page.width, page.height) for page in found.pages]
    preflight = {
        **page_facts(sizes),
        "rotated_pages": sum(1 for page in found.pages if page.rotate),
        **facts,
        "drawn_differently": disputes,
    }
    answer = {
        "pages": sizes,
        "preflight": preflight,
        "clean_contents": found.plain.clean_contents,
        "doubtful": [index + 1 for index in found.plain.remarks],
    }
    return answer, found.content


def read_by_own_reader(reader: PdfReader, page_limit: int) -> Findings | None:
    """Read a scanned file with our own reader, which repairs nothing; ``None`` for forms, signatures, what is not
    plain, and what misstates its length or has no room for a revision."""
    version = _VERSION.match(reader.data)
    if misstates_length(reader.data):
        return None
    try:
        root = reader.dictionary(reader.trailer.get(b"/Root"))
        if version is None or b"/AcroForm" in root or b"/Perms" in root:
            return None
        nodes, pages = read_pages(reader, page_limit)
        plain = check_plain_form(reader, scanned=True)
    except (NotPlain, Unsafe, *CONFUSED):
        return None
    facts = {"version": version[1].decode(), **PASSIVE, "method": "incremental"}
    return Findings(facts, PreparedFile("incremental", b"", pages, reader, nodes, plain))


def read_by_pikepdf(file: UntrustedFile, page_limit: int, scanned: ScannedFile | None) -> Findings:
    """Read the file with pikepdf, which repairs what it can, and choose what replaces the upload. The facts are those
    of the replacement, except for ``repairs``. A file that lacks a page is refused for that, whatever other fault it
    has."""
    try:
        facts = read_facts(file, passive=scanned is not None and scanned.passive)
        prepared = prepare_file(file, page_limit, scanned=scanned is not None)
        if prepared.content:
            with UntrustedFile(content=prepared.content) as shown:
                facts = {**read_facts(shown, passive=False), "repairs": facts["repairs"]}
    except PdfRefused as refused:
        if refused.reason in _UNCLEAR:
            _require_pages(file.pdfium())
        raise
    _require_pages(file.pdfium())
    facts["method"] = prepared.method
    return Findings(facts, prepared)


def _try_first_page(document: pypdfium2.PdfDocument) -> None:
    """Draw page 1 small and coarse, to learn whether it can be drawn within the limits."""
    with drawing(1):
        page = document[0]
        page.render(scale=_PROBE / max(*page.get_size(), 1.0), no_smoothimage=True).close()


def _require_pages(document: pypdfium2.PdfDocument) -> None:
    """Raise PdfRefused ``page_not_shown`` for the first page that PDFium cannot load, or that has no area. Only page
    dictionaries are read, no contents."""
    size = raw.FS_SIZEF()
    for index in range(len(document)):
        there = raw.FPDF_GetPageSizeByIndexF(document, index, ctypes.byref(size))
        if not there or not (size.width > 0 and size.height > 0):
            raise page_not_shown(index + 1)
