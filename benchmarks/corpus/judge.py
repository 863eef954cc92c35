"""One file: what becomes of it, and what poppler, qpdf, PDFium and this verification think of the result."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.corpus.court import Court
from benchmarks.corpus.programs import NoAnswer
from benchmarks.corpus.renderers import Pdfium, Poppler
from benchmarks.corpus.rendering import differences, placed_mark
from paraph.keys.development import SEALING_NAME
from paraph.pdf.pki.purpose import document_purpose
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.sealing.seal import Overlay, SealedPdf, SealError, seal
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.verification.verify import verify

_PAGE_LIMIT = 5000
_QPDF_ERRORS = 2


@dataclass(frozen=True)
class Verdict:
    """``outcome``: sealed; refused; invalid (poppler or qpdf disagree, or this verification does); rendering; crashed;
    hung; or no answer, where nothing is wrong and a program of others did not end in time. ``name`` is the path within
    the folder."""

    name: str
    outcome: str
    detail: str = ""
    method: str = ""
    prefix_kept: bool = False
    seconds: float = 0.0


def judge(path: Path, name: str, court: Court, keep: Path | None = None) -> Verdict:
    """Never raises for what is in the file."""
    pdf = path.read_bytes()
    try:
        inspection = inspect(pdf, page_limit=_PAGE_LIMIT)
        shown = getattr(inspection, "prepared", None) or pdf
        started = time.perf_counter()
        result = seal(
            shown,
            key=court.key,
            purpose=document_purpose(0, "corpus"),
            timestamping=court.timestamping,
            long_term=court.long_term,
            appearances=court.pictures,
            marks=[placed_mark(inspection.pages[0])],
            page_overlay=Overlay(1),
            at=datetime.now(UTC),
        )
        seconds = time.perf_counter() - started
    except PdfRefused as refusal:
        return Verdict(name, "refused", f"at upload: {refusal.reason}")
    except SealError as refusal:
        return Verdict(name, "refused", f"at sealing: {refusal}")
    if keep:
        (keep / name).parent.mkdir(parents=True, exist_ok=True)
        (keep / name).write_bytes(result.content)
    verdict = Verdict(name, "sealed", "", result.method, result.content.startswith(pdf), seconds)
    return _judged_by_others(verdict, shown, result, inspection.pages, court)


def _judged_by_others(
    verdict: Verdict, shown: bytes, result: SealedPdf, sizes: list[tuple[float, float]], court: Court
) -> Verdict:
    """Everybody is asked; the first complaint counts, and silence where there is none."""
    silent: list[str] = []
    for outcome, ask in _questions(shown, result, sizes, court):
        try:
            complaint = ask()
        except NoAnswer as silence:
            silent.append(str(silence))
            continue
        if complaint:
            return replace(verdict, outcome=outcome, detail=complaint)
    return replace(verdict, outcome="no answer", detail="; ".join(silent)) if silent else verdict


def _questions(
    shown: bytes, result: SealedPdf, sizes: list[tuple[float, float]], court: Court
) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "invalid", lambda: _complaint_of_poppler(result, court)
    yield "invalid", lambda: _complaint_of_ours(result, court)
    yield "invalid", lambda: _complaint_of_qpdf(shown, result, court)
    yield "rendering", lambda: next(differences(shown, result.content, sizes, [Pdfium()]), "")
    yield "rendering", lambda: next(differences(shown, result.content, sizes, [Poppler()]), "")


def _complaint_of_poppler(result: SealedPdf, court: Court) -> str:
    said = court.pdfsig(result.content)
    parts = said.split("Signature #")
    ours = [part for part in parts if f"Common Name: {SEALING_NAME}\n" in part]
    whole = any("Total document signed" in part for part in parts)
    # A field that shows on several pages is listed for each; asked for one certificate again, poppler may not know.
    valid = bool(ours) and all("Signature is Valid" in part for part in ours)
    trusted = any("Certificate is Trusted" in part for part in ours)
    return "" if whole and valid and trusted else f"poppler: {said}"


def _complaint_of_ours(result: SealedPdf, court: Court) -> str:
    found = verify(result.content, court.roots)
    if found.sound and found.covers_whole_file and found.level == result.level == "B-LTA":
        return ""
    return " ".join(["paraph verify:", *result.timestamp_failures, *result.level_reasons, *found.findings])


def _complaint_of_qpdf(shown: bytes, result: SealedPdf, court: Court) -> str:
    status, said = court.qpdf(result.content)
    errors = status == _QPDF_ERRORS and court.qpdf(shown)[0] != _QPDF_ERRORS
    return f"qpdf: {said[-200:]}" if errors else ""
