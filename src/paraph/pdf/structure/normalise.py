"""The variants of a file that a revision can extend: as it is, or rewritten by qpdf."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import pikepdf

from paraph.pdf.structure.crossreference import LARGEST_NUMBER, misstates_length
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.reader import PdfReader

_HEADER_WITHIN = 1024  # bytes in which readers look for the header
Method = Literal["incremental", "normalised"]
"""How a variant was made. ``incremental``: the file as it is. ``normalised``: the file is rewritten."""


def is_signed(pdf: bytes) -> bool:
    """Return whether the file says that it has a signature. The key stands in plain text: a signature dictionary
    is never packed into an object stream."""
    return b"/ByteRange" in pdf


class UnreadablePdf(Exception):
    """Not even qpdf can read the file; the message is a sentence for people."""


def normalised(pdf: bytes) -> bytes:
    """Return the same document rewritten with objects in plain order and encryption kept. If only bytes before the
    header prevent extending the file, these alone are removed. Raise :class:`UnreadablePdf`."""
    return _from_header(pdf) or _rewritten(pdf)


def _from_header(pdf: bytes) -> bytes | None:
    """Return the file from its header on; ``None`` unless its offsets count from there."""
    start = pdf.find(b"%PDF-", 1, _HEADER_WITHIN)
    if start < 0 or pdf.startswith(b"%PDF-"):
        return None
    form = pdf[start:]
    try:
        PdfReader(form)
    except (Unsafe, *CONFUSED):
        return None
    return None if misstates_length(form) else form


@contextmanager
def opened(pdf: bytes) -> Iterator[pikepdf.Pdf]:
    """Open a file to write it anew, without pikepdf's warning about fields that no form lists: they are the uploader's,
    and are drawn nevertheless."""
    with warnings.catch_warnings(), pikepdf.open(io.BytesIO(pdf), suppress_warnings=True) as document:
        warnings.simplefilter("ignore", pikepdf.PageCopyWarning)
        yield document


def _rewritten(pdf: bytes) -> bytes:
    try:
        with opened(pdf) as document:
            if not len(document.pages):
                raise UnreadablePdf("The PDF has no pages.")
            return saved(document)
    except pikepdf.PasswordError as error:
        raise UnreadablePdf("The PDF needs a password to open.") from error
    except (pikepdf.PikepdfError, RuntimeError, AssertionError, *CONFUSED) as error:
        raise UnreadablePdf("The PDF is damaged beyond repair.") from error


def saved(document: pikepdf.Pdf) -> bytes:
    """Return the file with objects in plain order, streams as they are, and encryption kept."""
    if "/Size" not in document.trailer:
        document.trailer["/Size"] = min(len(document.objects) + 1, LARGEST_NUMBER)
    target = io.BytesIO()
    document.save(
        target,
        object_stream_mode=pikepdf.ObjectStreamMode.disable,
        # keep streams as they are; qpdf rejects the option for encrypted files
        stream_decode_level=None if document.is_encrypted else pikepdf.StreamDecodeLevel.none,
        encryption=document.is_encrypted,
        fix_metadata_version=False,  # XMP is the uploader's, and reading it loads a library within the sandbox
    )
    return target.getvalue()


def extendable_variants(pdf: bytes) -> Iterator[tuple[Method, bytes]]:
    """Yield each variant with its method, the least intrusive first. Raise :class:`UnreadablePdf` after the last."""
    if not misstates_length(pdf):
        yield "incremental", pdf
    if is_signed(pdf):  # a rewritten file would lose its signatures, and what they say about later changes
        raise UnreadablePdf("The PDF is signed and damaged: repairing it would break its signatures.")
    yield "normalised", normalised(pdf)
