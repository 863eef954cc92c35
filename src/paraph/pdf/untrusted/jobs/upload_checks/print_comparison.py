"""Comparison of pages on the screen with pages in print, by drawing both."""

import time
from collections.abc import Sequence
from typing import Any

import pypdfium2
from pypdfium2 import raw
from pypdfium2.internal import set_callback

from paraph.pdf.untrusted.jobs.page_pictures import (
    Annotation,
    make_fields_annotations,
    show_as_printed,
    show_form_fields,
)
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile

NO_DIFFERENCE: dict[str, Any] = {"prints_differently": [], "print_unknown": 0}
"""The result for a file without visible annotations and without layers."""

_SECONDS = 3.0  # of processor time for all pages of a file; a job has 10 seconds
_LONGEST, _SHORTEST = 2000.0, 800.0  # bounds of the longer side in pixels; between them, one pixel per point
_BLANK = 0xFFFFFFFF


class _OutOfTimeError(Exception):
    """The time for all pages is over."""


def compare_print(file: UntrustedFile, annotations: Sequence[Sequence[Annotation]], *, layered: bool) -> dict[str, Any]:
    """Return ``{"prints_differently": [page number, …], "print_unknown": number of pages}``.

    ``annotations``: those of each page. ``layered``: the file mentions optional content, so that any page may differ;
    otherwise only pages with a screen-only or print-only annotation do. ``print_unknown`` counts pages that could not
    be drawn or were not reached in time.
    """
    compared = [index for index, shown in enumerate(annotations) if layered or any(each.differs for each in shown)]
    if not compared:
        return NO_DIFFERENCE
    deadline = time.process_time() + _SECONDS
    different, unknown = [], 0
    document = file.pdfium_again()
    show_form_fields(document)
    for done, index in enumerate(compared):
        try:
            if _differs(file, document, index, deadline, layered=layered):
                different.append(index + 1)
        except _OutOfTimeError:
            unknown += len(compared) - done
            break
        except pypdfium2.PdfiumError:
            unknown += 1
    return {"prints_differently": different, "print_unknown": unknown}


def _differs(
    file: UntrustedFile, document: pypdfium2.PdfDocument, index: int, deadline: float, *, layered: bool
) -> bool:
    """Compare one page, the screen first, since the changes for print last."""
    page, form = document[index], document.formenv
    try:
        if layered:
            make_fields_annotations(page)
            form = None
        on_screen = _drawn(form, page, 0, deadline)
        show_as_printed(file, page, index, layered=layered)
        return on_screen != _drawn(form, page, raw.FPDF_PRINTING, deadline)
    finally:
        page.close()


def _drawn(form: Any, page: pypdfium2.PdfPage, purpose: int, deadline: float) -> bytes:
    """Return the pixels of a page. Raise :class:`_OutOfTimeError` while drawing."""
    width, height = page.get_size()
    longer = max(width, height, 1.0)
    scale = min(max(longer, _SHORTEST), _LONGEST) / longer
    bitmap = pypdfium2.PdfBitmap.new_native(
        max(round(width * scale), 1), max(round(height * scale), 1), raw.FPDFBitmap_BGRx
    )
    try:
        raw.FPDFBitmap_FillRect(bitmap, 0, 0, bitmap.width, bitmap.height, _BLANK)
        drawing = (bitmap, page, 0, 0, bitmap.width, bitmap.height, 0, raw.FPDF_ANNOT | purpose)
        _draw(page, drawing, deadline)
        if form:
            raw.FPDF_FFLDraw(form, *drawing)
        return bytes(bitmap.buffer)
    finally:
        bitmap.close()


def _draw(page: pypdfium2.PdfPage, drawing: tuple[Any, ...], deadline: float) -> None:
    pause = raw.IFSDK_PAUSE(version=1)
    set_callback(pause, "NeedToPauseNow", lambda _: time.process_time() > deadline)
    status = raw.FPDF_RenderPageBitmap_Start(*drawing, pause)
    raw.FPDF_RenderPage_Close(page)
    if status == raw.FPDF_RENDER_TOBECONTINUED:
        raise _OutOfTimeError
    if status != raw.FPDF_RENDER_DONE:
        raise pypdfium2.PdfiumError("a page cannot be drawn")
