"""The untrusted file as the readers open it: memory-mapped, never copied; as another variant where qpdf needs one."""

import ctypes
import functools
import io
import mmap
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any, BinaryIO

import pikepdf
import pypdfium2
from pypdfium2 import raw

from paraph.pdf.refusal import PdfRefused, SealError, no_such_page, page_not_shown
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.pages import PageGeometry, page_geometry
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision

_UNSUPPORTED = re.compile(r"unsupported .*encryption", re.IGNORECASE)  # qpdf's message
# ISO 32000-2, 7.6.5: public-key handlers are Adobe.PubSec, or have PKCS #7 data whatever their /Filter
_FOR_CERTIFICATES = re.compile(rb"/Filter\s*/Adobe\.PubSec\b|/SubFilter\s*/adbe\.pkcs7\.s[345]\b")


class UntrustedFile:
    """A file behind a descriptor, which it owns, or in memory. A context manager that closes the documents opened
    here. ``read_by_qpdf``: qpdf reads the file as it is; known after :meth:`pikepdf` was called."""

    def __init__(self, descriptor: int | None = None, content: bytes = b"") -> None:
        self._opened: list[Any] = []
        self._file = io.BytesIO(content) if descriptor is None else os.fdopen(descriptor, "rb")
        self.size = len(content) if descriptor is None else os.fstat(descriptor).st_size
        if not self.size:
            self._file.close()
            raise PdfRefused("not_a_pdf", "The file is empty.")
        # private pages: PDFium needs writable memory, and the file must not change
        self.content = mmap.mmap(-1 if descriptor is None else descriptor, self.size, access=mmap.ACCESS_COPY)
        if descriptor is None:
            self.content[:] = content
        self.read_by_qpdf = False
        self._warnings: list[str] = []
        self._pikepdf: pikepdf.Pdf | None = None
        self._pdfium: pypdfium2.PdfDocument | None = None

    def __enter__(self) -> "UntrustedFile":
        return self

    def __exit__(self, *_: object) -> None:
        for document in reversed(self._opened):
            document.close()
        self._file.close()

    def pdfium(self) -> pypdfium2.PdfDocument:
        """Return the document opened by PDFium. Raise PdfRefused as :meth:`pikepdf` does, and ``no_pages``."""
        if self._pdfium is None:
            self._pdfium = self.pdfium_again()
        return self._pdfium

    def pdfium_again(self) -> pypdfium2.PdfDocument:
        """Open the document once more, to modify it in memory. Raise as :meth:`pdfium` does."""
        memory = (ctypes.c_char * self.size).from_buffer(self.content)
        handle = raw.FPDF_LoadMemDocument64(memory, self.size, None)
        if not handle:  # the last error is valid only now
            raise self._refused_by_pdfium(raw.FPDF_GetLastError())
        document = pypdfium2.PdfDocument(handle)
        self._opened.append(document)
        if len(document) < 1:
            self.pikepdf()  # may raise a better reason
            raise PdfRefused("no_pages", "The PDF has no pages.")
        return document

    def pikepdf(self) -> "pikepdf.Pdf":
        """Return the document opened by pikepdf; if attachments alone are encrypted, a variant without encryption.
        Raise PdfRefused ``password``, ``encrypted_for_certificates``, ``unknown_encryption`` or ``unreadable``."""
        if self._pikepdf is None:
            try:
                self._pikepdf = self._opened_by_qpdf(self._file)
                self.read_by_qpdf = True
            except PdfRefused as refused:
                if refused.reason != "password":  # which qpdf demands even where attachments alone are encrypted
                    raise
                try:
                    self._pikepdf = self._opened_by_qpdf(io.BytesIO(_without_lock_of_attachments(self.written_anew())))
                except (PdfRefused, Unsafe, SealError, *CONFUSED):
                    raise refused from None
        return self._pikepdf

    def written_anew(self) -> bytes:
        """Return the file as PDFium writes it anew, encryption kept; the file itself where its cross-reference is good,
        so that something else keeps qpdf from reading it. Raise PdfRefused ``damaged``."""
        with suppress(Unsafe, SealError, *CONFUSED):
            return PdfReader(self.whole).data
        target = io.BytesIO()
        try:
            with pypdfium2.PdfDocument(self.whole) as document:
                document.save(target)
        except pypdfium2.PdfiumError as error:
            raise damaged() from error
        return target.getvalue()

    def warnings(self) -> list[str]:
        """Return all warnings of qpdf so far about the document of :meth:`pikepdf`. Raise as that method does."""
        self._warnings += map(str, self.pikepdf().get_warnings())  # which returns each only once
        return self._warnings

    def is_read_as_written(self) -> bool:
        """Return whether qpdf reads the file as it is, without any repair so far. Raise as :meth:`pikepdf` does."""
        return not self.warnings() and self.read_by_qpdf

    def _opened_by_qpdf(self, file: BinaryIO) -> Any:
        try:
            document = pikepdf.open(
                file,
                access_mode=pikepdf.AccessMode.mmap if file is self._file else pikepdf.AccessMode.default,
                inherit_page_attributes=False,  # leave the pages unchanged
                suppress_warnings=True,
            )
            self._opened.append(document)
            document.Root  # noqa: B018  raises where there is none, for which qpdf does not look before
        except pikepdf.PasswordError as error:
            raise _locked() from error
        except (pikepdf.PikepdfError, RuntimeError, *CONFUSED) as error:
            if _UNSUPPORTED.search(str(error)):
                raise unsupported_encryption(self.content) from error
            raise PdfRefused("unreadable", "The file cannot be read as a PDF.") from error
        return document

    @functools.cached_property
    def whole(self) -> bytes:
        return self.content[:]

    @functools.cached_property
    def may_scale(self) -> bool:
        """Return whether a page may have a user unit, for which pikepdf must be asked at some cost."""
        return self.content.find(b"/UserUnit") >= 0 or self.content.find(b"/ObjStm") >= 0

    def _refused_by_pdfium(self, code: int) -> PdfRefused:
        if code == raw.FPDF_ERR_SECURITY:
            return unsupported_encryption(self.content)
        self.pikepdf()  # raises a better reason for unknown encryption, or for a file that nobody can read
        return _locked() if code == raw.FPDF_ERR_PASSWORD else damaged()


@contextmanager
def drawing(page_number: int) -> Iterator[None]:
    """Raise PdfRefused ``page_not_shown`` where PDFium cannot read or draw the page, which is counted from 1."""
    try:
        yield
    except (pypdfium2.PdfiumError, ValueError) as error:
        raise page_not_shown(page_number) from error


def require_page(document: pypdfium2.PdfDocument, page_number: int) -> None:
    """Raise PdfRefused ``no_such_page`` for a page that the document does not have."""
    if not 1 <= page_number <= len(document):
        raise no_such_page(page_number, len(document))


def damaged() -> PdfRefused:
    """Return the refusal of a file that one reader opens and another does not."""
    return PdfRefused(
        "damaged",
        "The PDF is damaged, so that some readers cannot open it. Save it again with the program that made it.",
    )


def _locked() -> PdfRefused:
    return PdfRefused("password", "The PDF requires a password to open.")


def _without_lock_of_attachments(content: bytes) -> bytes:
    """Return the file without an encryption that only attachments use, for which qpdf demands a password nevertheless.
    Raise :class:`~paraph.pdf.structure.objects.Unsafe` or ``SealError``."""
    reader = PdfReader(content)
    if reader.encryption is None or reader.encryption.strings or reader.encryption.streams:
        return content
    reader.encryption = None
    reader.trailer = {key: value for key, value in reader.trailer.items() if key != b"/Encrypt"}
    return content + bytes(Revision(reader).write().text)


def unsupported_encryption(content: bytes | mmap.mmap) -> PdfRefused:
    if _FOR_CERTIFICATES.search(content):
        return PdfRefused(
            "encrypted_for_certificates", "The PDF is encrypted with certificates, so only their holders can open it."
        )
    return PdfRefused("unknown_encryption", "The PDF is encrypted in a way that is not supported.")


def name_of(value: Any, otherwise: str = "") -> str:
    """Return a name with its slash as qpdf writes it, ``otherwise`` for anything else. ``str()`` needs UTF-8, which
    names in files of strangers need not be."""
    return value.unparse().decode("latin-1") if isinstance(value, pikepdf.Name) else otherwise


def dictionary(value: Any) -> Any:
    """Return ``value`` if it is a dictionary, else an empty one."""
    return value if isinstance(value, pikepdf.Dictionary) else {}


def geometry_of_page(file: UntrustedFile, page: pypdfium2.PdfPage, index: int) -> PageGeometry:
    """Return the geometry; pikepdf is asked for the user unit, which PDFium does not tell, only if there may be one."""
    rectangle = raw.FS_RECTF()
    raw.FPDF_GetPageBoundingBox(page, ctypes.byref(rectangle))
    visible = (rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
    pages = file.pikepdf().pages if file.may_scale else ()
    value: Any = pages[index].obj.get("/UserUnit") if index < len(pages) else None
    unit = float(value) if isinstance(value, int | Decimal) else None
    return page_geometry(visible, None, page.get_rotation(), unit)
