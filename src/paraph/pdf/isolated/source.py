"""The untrusted file as the readers open it: mapped memory, never copied."""

import ctypes
import functools
import mmap
import os
from types import TracebackType
from typing import Any

import pikepdf
import pypdfium2
from pypdfium2 import raw

from paraph.pdf.refusal import PdfRefused


class Source:
    """A file behind a descriptor, which it owns. A context manager: documents opened here end with it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.size = os.fstat(descriptor).st_size
        if not self.size:
            raise PdfRefused("not_a_pdf", "The file is empty.")
        # private pages: PDFium wants writable memory, the file itself stays as it is
        self.content = mmap.mmap(descriptor, self.size, access=mmap.ACCESS_COPY)
        self._opened: list[Any] = []
        self._pikepdf: pikepdf.Pdf | None = None
        self._pdfium: pypdfium2.PdfDocument | None = None

    def __enter__(self) -> "Source":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for document in reversed(self._opened):
            document.close()
        os.close(self._descriptor)

    def pdfium(self) -> pypdfium2.PdfDocument:
        """Opened by PDFium. Raises PdfRefused ``password``, ``no_pages`` or ``unreadable``."""
        if self._pdfium is None:
            self._pdfium = self.pdfium_again()
        return self._pdfium

    def pdfium_again(self) -> pypdfium2.PdfDocument:
        """Opened once more, for what changes the document in memory. Raises as :meth:`pdfium` does."""
        memory = (ctypes.c_char * self.size).from_buffer(self.content)
        try:
            document = pypdfium2.PdfDocument(memory)
        except pypdfium2.PdfiumError as error:
            raise _pdfium_refusal(error.err_code) from error
        self._opened.append(document)
        return document

    def pikepdf(self) -> pikepdf.Pdf:
        """Opened by pikepdf with its recovery on. Raises PdfRefused ``password`` or ``unreadable``."""
        if self._pikepdf is not None:
            return self._pikepdf
        file = os.fdopen(os.dup(self._descriptor), "rb")
        self._opened.append(file)
        try:
            document = pikepdf.open(file, access_mode=pikepdf.AccessMode.mmap, suppress_warnings=True)
        except pikepdf.PasswordError as error:
            raise _locked() from error
        except (pikepdf.PikepdfError, ValueError, RuntimeError) as error:
            raise _unreadable() from error
        self._opened.append(document)
        self._pikepdf = document
        return document

    @functools.cached_property
    def may_scale(self) -> bool:
        """Whether a page may have a user unit: PDFium does not tell, and asking pikepdf costs."""
        return self.content.find(b"/UserUnit") >= 0 or self.content.find(b"/ObjStm") >= 0


def _pdfium_refusal(code: int | None) -> PdfRefused:
    if code == raw.FPDF_ERR_PASSWORD:
        return _locked()
    if code == raw.FPDF_ERR_SUCCESS:
        return PdfRefused("no_pages", "The PDF has no pages.")
    return _unreadable()


def _locked() -> PdfRefused:
    return PdfRefused("password", "The PDF needs a password to be opened.")


def _unreadable() -> PdfRefused:
    return PdfRefused("unreadable", "The file cannot be read as a PDF.")
