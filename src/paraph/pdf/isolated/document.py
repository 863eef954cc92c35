"""A file as qpdf reads it, whatever keeps it from reading the file as it is."""

import io
from typing import Any

import pikepdf

from paraph.pdf.errors import SealError
from paraph.pdf.isolated.source import Source
from paraph.pdf.objects import CONFUSED, Unsafe
from paraph.pdf.recovery import recover
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.revision import Revision


def document_of(source: Source, content: bytes | None) -> Any:
    """``content``: what stands in for the upload, None where nothing does.

    qpdf wants a password where only attachments are encrypted, and a cross-reference where PDFium does without: it is
    given what our own reader found. Raises PdfRefused.
    """
    try:
        return source.pikepdf() if content is None else source.keep(_opened(content))
    except (PdfRefused, pikepdf.PikepdfError) as error:
        try:
            return source.keep(_opened(_plain(content or source.whole)))
        except (Unsafe, SealError, pikepdf.PikepdfError, *CONFUSED):
            raise error from None


def _opened(content: bytes) -> pikepdf.Pdf:
    return pikepdf.open(io.BytesIO(content), inherit_page_attributes=False, suppress_warnings=True)


def _plain(content: bytes) -> bytes:
    """With a cross-reference of everything; without an encryption that neither strings nor streams have."""
    reader = recover(content)
    if reader.encryption is not None and not (reader.encryption.strings or reader.encryption.streams):
        reader.encryption = None
        reader.trailer = {key: value for key, value in reader.trailer.items() if key != b"/Encrypt"}
    return content + bytes(Revision(reader).write().text)
