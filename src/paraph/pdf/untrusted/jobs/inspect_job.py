"""The checks of an upload; :mod:`paraph.pdf.untrusted.inspect` defines what is refused and why."""

import ctypes
import re
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import islice
from typing import Any, NamedTuple

import pikepdf
import pypdfium2
from pypdfium2 import raw

from paraph.pdf.refusal import PdfRefused, SealError, page_not_shown
from paraph.pdf.structure.contents_references import referred_in_contents
from paraph.pdf.structure.crossreference import misstates_length
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.pages import PageGeometry, PageNode, geometries_of
from paraph.pdf.structure.pages import pages as plain_pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, damaged
from paraph.pdf.untrusted.jobs.upload_checks.acroform import NO_FORMS, NO_SIGNATURES, read_form_fields, read_signatures
from paraph.pdf.untrusted.jobs.upload_checks.changeable import NO_BEHAVIOUR, read_behaviour
from paraph.pdf.untrusted.jobs.upload_checks.disputes.disputes import find_disputes
from paraph.pdf.untrusted.jobs.upload_checks.expansion import check_contents
from paraph.pdf.untrusted.jobs.upload_checks.fast_scan import ScannedFile, fast_scan
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.plain_form import PlainForm, check_plain_form
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.values import NotPlain
from paraph.pdf.untrusted.jobs.upload_checks.prepared_file import cannot_be_sealed, prepare_file, shown_differently
from paraph.pdf.untrusted.jobs.upload_checks.second_opinion import Opinion, second_opinion
from paraph.pdf.untrusted.jobs.upload_checks.verifying_cost import SLOW, check_drawing, check_reading
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_PROBE = 64  # pixels of the longer side of page 1 in the trial
_REPAIRS_TOLD = 5
_NAME_OF_FILE = re.compile(r"^(WARNING: )?(stream )?<[^>]*>[^:]*: ")
_UNCLEAR = ("cannot_be_sealed", "shown_differently")
_VERSION = re.compile(rb"%PDF-(\d\.\d)")


class Findings(NamedTuple):
    """What a reader finds in a file. ``facts``: the parts of the preflight report that do not follow from the pages."""

    pages: list[PageGeometry]
    facts: dict[str, Any]
    reader: PdfReader
    nodes: list[PageNode]
    plain: PlainForm


def inspect(file: UntrustedFile, page_limit: int) -> JobAnswer:
    """Return ``{"pages": [[width, height], …], "preflight": …, "clean_contents": …, "doubtful": [page, …]}`` and what
    replaces the upload, empty for nothing. ``doubtful``: the numbers of the pages of which no rule says that all
    readers draw them alike."""
    scanned = fast_scan(file)
    document = file.pdfium()
    _check_count(len(document), page_limit)
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
    findings, content = None, b""
    if scanned and scanned.passive and not scanned.may_draw_annotations:
        findings = read_by_own_reader(scanned.reader, page_limit)
    nodes = findings.nodes if findings else []
    check_drawing(document, findings.reader if findings and len(nodes) == len(document) else None, nodes)
    sound = (
        scanned
        and findings
        and len(findings.pages) == len(document)
        and second_opinion(scanned.reader, file) is Opinion.SAME
    )
    if not sound or findings is None:
        findings, content = _read_by_pikepdf_or_refuse(file, page_limit, scanned)
    _try_first_page(document)
    with nullcontext(file) if not content else UntrustedFile(content=content) as shown:
        try:
            if referred_in_contents(findings.reader, findings.nodes):
                raise shown_differently()
            disputes = find_disputes(findings.reader, shown, findings.nodes, findings.pages, findings.plain)
        except (Unsafe, *CONFUSED) as error:
            raise damaged() from error
        if not sound or time.process_time() - began > SLOW:
            try:
                check_reading(shown.whole, findings.pages)
            except (Unsafe, SealError, *CONFUSED) as error:
                raise cannot_be_sealed() from error
    preflight = {
        "page_count": len(findings.pages),
        "sizes": _sizes(findings.pages),
        "rotated_pages": sum(1 for page in findings.pages if page.rotate),
        **findings.facts,
        "drawn_differently": disputes,
    }
    sizes = [[page.width, page.height] for page in findings.pages]
    doubtful = [index + 1 for index in findings.plain.remarks]
    clean = findings.plain.clean_contents
    return {"pages": sizes, "preflight": preflight, "clean_contents": clean, "doubtful": doubtful}, content


def _read_by_pikepdf_or_refuse(
    file: UntrustedFile, page_limit: int, scanned: ScannedFile | None
) -> tuple[Findings, bytes]:
    """Refuse a file that lacks a page for that reason, whatever other fault it has."""
    try:
        nodes = read_by_pikepdf(file, page_limit, scanned)
    except PdfRefused as refused:
        if refused.reason in _UNCLEAR:
            require_pages(file.pdfium())
        raise
    require_pages(file.pdfium())
    return nodes


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
        Revision(reader)  # there is room for one
        nodes = list(islice(plain_pages(reader), page_limit + 1))
        check_contents(reader, nodes)
        pages = geometries_of(reader, nodes)
        plain = check_plain_form(reader, scanned=True)
    except (NotPlain, Unsafe, *CONFUSED):
        return None
    facts: dict[str, Any] = {
        "version": version[1].decode(),
        "encryption": None,
        "signatures": NO_SIGNATURES,
        "forms": NO_FORMS,
        **NO_BEHAVIOUR,
        "repairs": [],
        "method": "incremental",
    }
    return Findings(pages, facts, reader, nodes, plain)


def read_by_pikepdf(file: UntrustedFile, page_limit: int, scanned: ScannedFile | None) -> tuple[Findings, bytes]:
    """Read the file with pikepdf, which repairs what it can, and choose what replaces the upload. The facts are
    those of the replacement, except for ``repairs``."""
    facts = _facts(file, passive=scanned is not None and scanned.passive)
    prepared = prepare_file(file, page_limit, scanned=scanned is not None)
    if prepared.content is not None:
        with UntrustedFile(content=prepared.content) as shown:
            facts = {**_facts(shown, passive=False), "repairs": facts["repairs"]}
    facts["method"] = prepared.method
    found = Findings(prepared.geometries, facts, prepared.reader, prepared.nodes, prepared.plain)
    return found, prepared.content or b""


def _facts(file: UntrustedFile, *, passive: bool) -> dict[str, Any]:
    document = file.pikepdf()
    forms, signatures = read_form_fields(document), read_signatures(document)
    return {
        "version": document.pdf_version,
        "encryption": _encryption(document),
        "signatures": signatures,
        "forms": forms,
        **read_behaviour(file, passive=passive),
        "repairs": _repairs(file),
    }


def _check_count(count: int, limit: int) -> None:
    if count < 1:
        raise PdfRefused("no_pages", "The PDF has no pages.")
    if count > limit:
        message = f"The PDF has {count} pages; at most {limit} are allowed."
        raise PdfRefused("too_many_pages", message, {"count": count, "limit": limit})


def _try_first_page(document: pypdfium2.PdfDocument) -> None:
    """Draw page 1 small and coarse, to learn whether it can be drawn within the limits."""
    try:
        page = document[0]
        page.render(scale=_PROBE / max(*page.get_size(), 1.0), no_smoothimage=True).close()
    except (pypdfium2.PdfiumError, ValueError) as error:
        raise page_not_shown(1) from error


def _sizes(pages: Sequence[PageGeometry]) -> list[dict[str, float]]:
    counted = Counter((round(page.width, 2), round(page.height, 2)) for page in pages)
    return [{"width": width, "height": height, "pages": count} for (width, height), count in counted.most_common()]


def _encryption(document: pikepdf.Pdf) -> dict[str, Any] | None:
    """Describe the encryption; the file opened without a password, so it has an owner password at most. Refuse one
    with an integrity code over the whole file (ISO/TS 32004), which its readers check and a seal would break."""
    if not document.is_encrypted:
        return None
    if "/AuthCode" in document.trailer or "/KDFSalt" in document.trailer.Encrypt:
        raise PdfRefused(
            "integrity_code",
            "The PDF is encrypted with an integrity code (ISO/TS 32004), which a seal would break. Save it without "
            "encryption and try again.",
        )
    method = str(document.encryption.stream_method).rpartition(".")[2]
    return {"method": method, "bits": document.encryption.bits, "permissions": document.allow._asdict()}


def _repairs(file: UntrustedFile) -> list[str]:
    """Return the warnings of qpdf without the file name in them."""
    warnings = (_NAME_OF_FILE.sub("", warning) for warning in file.warnings())
    return list(dict.fromkeys(warnings))[:_REPAIRS_TOLD]


def require_pages(document: pypdfium2.PdfDocument) -> None:
    """Raise PdfRefused ``page_not_shown`` for the first page that PDFium cannot load, or that has no area. Only page
    dictionaries are read, no contents."""
    size = raw.FS_SIZEF()
    for index in range(len(document)):
        there = raw.FPDF_GetPageSizeByIndexF(document, index, ctypes.byref(size))
        if not there or not (size.width > 0 and size.height > 0):
            raise page_not_shown(index + 1)
