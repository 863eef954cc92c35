"""The untrusted file as the readers open it: mapped memory, never copied."""

import ctypes
import functools
import mmap
import os
import re
from types import TracebackType
from typing import Any

import pikepdf
import pypdfium2
from pypdfium2 import raw

from paraph.pdf.isolated.handlers import unsupported_encryption
from paraph.pdf.refusal import PdfRefused

_UNSUPPORTED = re.compile(r"unsupported .*encryption", re.IGNORECASE)  # in the words of qpdf


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
        """Opened by PDFium. Raises PdfRefused: as :meth:`pikepdf`, and ``no_pages``."""
        if self._pdfium is not None:
            return self._pdfium
        memory = (ctypes.c_char * self.size).from_buffer(self.content)
        handle = raw.FPDF_LoadMemDocument64(memory, self.size, None)
        if not handle:  # only then is the last error that of this file
            raise self._refused_by_pdfium(raw.FPDF_GetLastError())
        document = pypdfium2.PdfDocument(handle)
        self._opened.append(document)
        if len(document) < 1:
            raise PdfRefused("no_pages", "The PDF has no pages.")
        self._pdfium = document
        return document

    def pikepdf(self) -> pikepdf.Pdf:
        """Opened by pikepdf with its recovery on. Raises PdfRefused ``password``, ``encrypted_for_certificates``,
        ``unknown_encryption`` or ``unreadable``."""
        if self._pikepdf is not None:
            return self._pikepdf
        file = os.fdopen(os.dup(self._descriptor), "rb")
        self._opened.append(file)
        try:
            document = pikepdf.open(
                file,
                access_mode=pikepdf.AccessMode.mmap,
                inherit_page_attributes=False,  # the pages stay as they are in the file
                suppress_warnings=True,
            )
        except pikepdf.PasswordError as error:
            raise _locked() from error
        except (pikepdf.PikepdfError, ValueError, RuntimeError) as error:
            if _UNSUPPORTED.search(str(error)):
                raise unsupported_encryption(self.content) from error
            raise _unreadable() from error
        self._opened.append(document)
        self._pikepdf = document
        return document

    def keep(self, document: Any) -> Any:
        """A document that is closed with the source."""
        self._opened.append(document)
        return document

    @functools.cached_property
    def whole(self) -> bytes:
        """All of the file, copied."""
        return self.content[:]

    @functools.cached_property
    def may_scale(self) -> bool:
        """Whether a page may have a user unit: PDFium does not tell, and asking pikepdf costs."""
        return self.content.find(b"/UserUnit") >= 0 or self.content.find(b"/ObjStm") >= 0

    def _refused_by_pdfium(self, code: int) -> PdfRefused:
        if code == raw.FPDF_ERR_PASSWORD:
            return _locked()
        if code == raw.FPDF_ERR_SECURITY:
            return unsupported_encryption(self.content)
        return _unreadable()


def _locked() -> PdfRefused:
    return PdfRefused("password", "The PDF needs a password to be opened.")


def _unreadable() -> PdfRefused:
    return PdfRefused("unreadable", "The file cannot be read as a PDF.")
