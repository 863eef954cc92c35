"""The pages as they were at a signature and as they are now, drawn by PDFium and compared: a second reader's word."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from ctypes import c_int
from dataclasses import dataclass

import pypdfium2
from pypdfium2 import raw

from paraph.pdf.pdfium_library import begin_anew
from paraph.pdf.verification.changes import Shown

_LONGEST_SIDE = 600  # pixels; the letters of a contract are legible
_MARGIN = 2  # pixels around a picture that a signature added
SECONDS = 3.0
"""The processor time that drawing files may take."""
_WHITE = (255, 255, 255, 255)


class DrawingTime:
    """The processor seconds that drawing files may take; pages beyond are judged by their objects alone."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._left = seconds
        self._started = 0.0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time of the block."""
        self._started = time.process_time()
        try:
            yield
        finally:
            self._left -= time.process_time() - self._started

    def is_over(self) -> bool:
        """Return whether no time is left; call it only within :meth:`counted`."""
        return time.process_time() - self._started > self._left


@dataclass(frozen=True)
class Compared:
    """The first ``pages`` of ``count`` pages were compared. ``different``: the number of a page that looks
    different, ``None`` if there is none."""

    pages: int
    count: int
    different: int | None = None


def compare_pictures(before: bytes, now: bytes, shown: Sequence[Shown], drawing: DrawingTime) -> Compared | None:
    """Compare the pages, but for the rectangles that ``shown`` names; ``None`` where PDFium cannot open the file as it
    was before. ``drawing``: how long it may take."""
    try:
        with closing(_opened(before)) as document:
            count = len(document)
    except (pypdfium2.PdfiumError, ValueError):
        return None
    try:
        with drawing.counted():
            compared = _compare(before, now, shown, drawing)
            while compared.different and _looks_alike(before, now, compared.different - 1, shown):
                compared = _compare(before, now, shown, drawing, compared.different)
            return compared
    except (pypdfium2.PdfiumError, ValueError):
        return Compared(0, count, 1)


def _looks_alike(before: bytes, now: bytes, index: int, shown: Sequence[Shown]) -> bool:
    """Return whether a page that seemed different is the same where PDFium remembers nothing of what it drew before."""
    pictures = []
    for pdf in (before, now):
        begin_anew()
        with closing(_opened(pdf)) as document:
            pictures.append(_picture(document, index, _rectangles(shown, index)) if index < len(document) else None)
    return pictures[0] is not None and pictures[0] == pictures[1]


def _opened(pdf: bytes) -> pypdfium2.PdfDocument:
    document = pypdfium2.PdfDocument(pdf)
    document.init_forms()
    return document


def _compare(before: bytes, now: bytes, shown: Sequence[Shown], drawing: DrawingTime, first: int = 0) -> Compared:
    """Compare the pages from ``first`` on, counted from 0."""
    with closing(_opened(before)) as old, closing(_opened(now)) as new:
        count = len(old)
        if len(new) != count:
            return Compared(0, count, min(count, len(new)) + 1)
        for index in range(first, count):
            if drawing.is_over():
                return Compared(index, count)
            rectangles = _rectangles(shown, index)
            picture = _picture(old, index, rectangles)
            if drawing.is_over():
                return Compared(index, count)
            if _picture(new, index, rectangles) != picture:
                return Compared(index, count, index + 1)
        return Compared(count, count)


def _rectangles(shown: Sequence[Shown], index: int) -> list[tuple[float, ...]]:
    return [each.rectangle for each in shown if each.page == index]


def _picture(document: pypdfium2.PdfDocument, index: int, rectangles: Sequence[tuple[float, ...]]) -> object:
    """Return the pixels of a page, ``None`` where PDFium cannot draw it."""
    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return None
    with closing(page):
        bitmap = _drawn(page)
        for rectangle in rectangles:
            _blank(page, bitmap, rectangle)
        return bitmap.width, bitmap.height, bytes(bitmap.buffer)


def draw(document: pypdfium2.PdfDocument, index: int) -> None:
    """Draw a page as it is drawn to be compared, to learn what that takes. Raise ``PdfiumError`` or ``ValueError``
    where PDFium cannot."""
    with closing(document[index]) as page:
        _drawn(page).close()


def _drawn(page: pypdfium2.PdfPage) -> pypdfium2.PdfBitmap:
    return page.render(scale=min(1.0, _LONGEST_SIDE / max(*page.get_size(), 1.0)))


def _blank(page: pypdfium2.PdfPage, bitmap: pypdfium2.PdfBitmap, rectangle: tuple[float, ...]) -> None:
    corners = (_pixel(page, bitmap, rectangle[side], rectangle[other]) for side, other in ((0, 1), (2, 3)))
    columns, rows = zip(*corners, strict=True)
    left, top = max(0, min(columns) - _MARGIN), max(0, min(rows) - _MARGIN)
    right, bottom = min(bitmap.width, max(columns) + _MARGIN), min(bitmap.height, max(rows) + _MARGIN)
    bitmap.fill_rect(_WHITE, left, top, right - left, bottom - top)


def _pixel(page: pypdfium2.PdfPage, bitmap: pypdfium2.PdfBitmap, x: float, y: float) -> tuple[int, int]:
    across, down = c_int(), c_int()
    raw.FPDF_PageToDevice(page, 0, 0, bitmap.width, bitmap.height, 0, x, y, across, down)
    return across.value, down.value
