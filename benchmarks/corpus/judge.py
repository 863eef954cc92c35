"""One file: what becomes of it, and what poppler, qpdf, PDFium and this verification think of the result."""

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.corpus.court import Court
from benchmarks.corpus.rendering import differences, placed_mark
from paraph.keys.issuing import SEALING_NAME
from paraph.pdf.inspect import inspect
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.seal import Overlay, SealedPdf, SealError, seal
from paraph.pdf.verify import verify

_PAGE_LIMIT = 5000
_QPDF_ERRORS = 2


@dataclass(frozen=True)
class Verdict:
    """``outcome``: sealed, refused, invalid (poppler or qpdf disagree), rendering, crashed or hung."""

    name: str
    outcome: str
    detail: str = ""
    method: str = ""
    prefix_kept: bool = False
    seconds: float = 0.0


def judge(path: Path, court: Court, keep: Path | None = None) -> Verdict:
    """Never raises for what is in the file."""
    pdf, name = path.read_bytes(), path.name
    try:
        sizes = inspect(pdf, page_limit=_PAGE_LIMIT).pages
        started = time.perf_counter()
        result = seal(
            pdf,
            key=court.key,
            timestamping=court.timestamping,
            long_term=court.long_term,
            appearances=court.pictures,
            marks=[placed_mark(sizes[0])],
            page_overlay=Overlay(1),
            at=datetime.now(UTC),
        )
        seconds = time.perf_counter() - started
    except PdfRefused as refusal:
        return Verdict(name, "refused", f"at upload: {refusal.reason}")
    except SealError as refusal:
        return Verdict(name, "refused", f"at sealing: {refusal}")
    if keep:
        (keep / name).write_bytes(result.content)
    verdict = Verdict(name, "sealed", "", result.method, result.content.startswith(pdf), seconds)
    if complaint := _complaint_of_others(pdf, result, court):
        return replace(verdict, outcome="invalid", detail=complaint)
    if changed := differences(pdf, result.content, sizes):
        return replace(verdict, outcome="rendering", detail=changed)
    return verdict


def _complaint_of_others(pdf: bytes, result: SealedPdf, court: Court) -> str:
    said = court.pdfsig(result.content)
    parts = said.split("Signature #")
    ours = [part for part in parts if f"Common Name: {SEALING_NAME}\n" in part]
    if not any("Total document signed" in part for part in parts):
        return f"poppler: {said}"
    # A field that shows on several pages is listed for each; asked for one certificate again, poppler may not know.
    if not ours or not all("Signature is Valid" in part for part in ours):
        return f"poppler: {said}"
    if not any("Certificate is Trusted" in part for part in ours):
        return f"poppler: {said}"
    found = verify(result.content, court.roots)
    if not (found.ok and found.covers_whole_file and found.level == result.level == "B-LTA"):
        return " ".join([*result.timestamp_failures, *result.level_reasons, *found.findings])
    after = court.qpdf(result.content)
    if after.returncode == _QPDF_ERRORS and court.qpdf(pdf).returncode != _QPDF_ERRORS:
        return f"qpdf: {after.stdout[-200:]}"
    return ""
