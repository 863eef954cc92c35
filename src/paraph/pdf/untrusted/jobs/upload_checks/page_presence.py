"""The presence of every page for PDFium, which draws their pictures."""

import ctypes

import pypdfium2
from pypdfium2 import raw

from paraph.pdf.refusal import page_not_shown


def require_pages(document: pypdfium2.PdfDocument) -> None:
    """Raise PdfRefused ``page_not_shown`` for the first page that PDFium cannot load, or that has no area. Only page
    dictionaries are read, no contents."""
    size = raw.FS_SIZEF()
    for index in range(len(document)):
        there = raw.FPDF_GetPageSizeByIndexF(document, index, ctypes.byref(size))
        if not there or not (size.width > 0 and size.height > 0):
            raise page_not_shown(index + 1)
