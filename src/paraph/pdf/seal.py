"""Sealing: marks, overlay, signature field and PAdES seal in one incremental revision (ETSI EN 319 142-1).

The uploaded bytes stay the prefix of the result. Order of attempts: extend the file as it is written; extend it with
its objects found by search, where its cross-reference is wrong; have it rewritten by qpdf and extend that.
:attr:`SealedPdf.method` tells which it was.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from paraph.keys import SigningKey
from paraph.pdf import field
from paraph.pdf.certificate import without_root
from paraph.pdf.cms_template import template
from paraph.pdf.draw import draw
from paraph.pdf.errors import SealError
from paraph.pdf.marks import Mark, Overlay
from paraph.pdf.normalise import Unreadable, normalised
from paraph.pdf.objects import Unsafe
from paraph.pdf.pages import pages
from paraph.pdf.reader import Reader
from paraph.pdf.recovery import recover
from paraph.pdf.revision import Revision, Written
from paraph.pdf.selfcheck import Placed, check
from paraph.pdf.timestamp import Timestamp, Timestamping, stamp_time

__all__ = ["Mark", "Overlay", "SealError", "SealedPdf", "seal"]

_TOKEN_SIZE = 8192
_TOKEN_MARGIN = 512


@dataclass(frozen=True)
class SealedPdf:
    """A sealed file that was re-opened and validated, and what the journal says of it (specification 4.11)."""

    content: bytes
    sha256: bytes
    signing_algorithm: str
    kms_key_id: str
    kms_request_id: str
    timestamp: Timestamp | None
    timestamp_failures: list[str]
    method: str
    """``incremental``: the upload is the prefix. ``general``: so it is, but its cross-reference was wrong and
    the new revision brings one of everything. ``normalised``: the upload had to be rewritten first."""


@dataclass(frozen=True)
class _Order:
    key: SigningKey
    timestamping: Timestamping | None
    appearances: bytes
    marks: Sequence[Mark]
    page_overlay: Overlay | None
    reason: str
    name: str
    at: datetime


def seal(
    pdf: bytes,
    *,
    key: SigningKey,
    timestamping: Timestamping | None,
    appearances: bytes = b"",
    marks: Sequence[Mark] = (),
    page_overlay: Overlay | None = None,
    reason: str = "",
    name: str = "",
    at: datetime,
) -> SealedPdf:
    """Draws the marks and the overlay, seals, and validates the result.

    ``appearances`` is a PDF whose pages are the pictures that marks and overlay name. Without an answer from the
    timestamp authorities the seal is B-B and ``timestamp`` None. Earlier signatures of the file stay valid: marks
    then live in the annotations of the seal's own field. Raises :class:`SealError` with one sentence.
    """
    order = _Order(key, timestamping, appearances, marks, page_overlay, reason, name, at)
    try:
        return _first_that_works(pdf, order)
    except Unreadable as error:
        raise SealError(str(error)) from error
    except Unsafe as error:
        raise SealError("The PDF cannot be sealed: its structure is damaged.") from error
    except RecursionError as error:
        raise SealError("The PDF cannot be sealed: its structure is nested too deeply.") from error


def _first_that_works(pdf: bytes, order: _Order) -> SealedPdf:
    for method, read in (("incremental", Reader), ("general", recover)):
        try:
            return _attempt(read, pdf, order, method)
        except Unsafe:
            continue
    return _attempt(Reader, normalised(pdf), order, "normalised")


def _attempt(read: Callable[[bytes], Reader], pdf: bytes, order: _Order, method: str) -> SealedPdf:
    try:
        try:
            return _sealed(read(pdf), order, method, _TOKEN_SIZE if order.timestamping else 0)
        except _TokenTooLarge as error:
            return _sealed(read(pdf), order, method, error.size + _TOKEN_MARGIN)
    except (RecursionError, ValueError, OverflowError) as error:
        raise Unsafe("the file confuses the reader") from error


class _TokenTooLarge(Exception):
    def __init__(self, size: int) -> None:
        self.size = size


def _sealed(reader: Reader, order: _Order, method: str, token_size: int) -> SealedPdf:
    revision = Revision(reader)
    standing = field.standing(revision)
    if standing.changes_forbidden:
        raise SealError("The PDF is certified and forbids any change, so it cannot be sealed.")
    drawn = draw(revision, order.appearances, order.marks, order.page_overlay, signed=standing.signatures > 0)
    first = next(pages(reader), None)
    if first is None:
        raise SealError("The PDF has no pages.")
    signature = revision.reserve()
    widgets = drawn.widgets or [field.Widget(first, (0, 0, 0, 0), None)]
    field.add_field(revision, signature, standing.field_names, widgets)
    cms = template(order.key)
    dictionary = field.signature_dictionary(order.at, order.reason, order.name)
    revision.put_signature(signature, dictionary, cms.size(token_size))
    return _signed(reader, revision.write(), order, method, drawn.placed)


def _signed(reader: Reader, written: Written, order: _Order, method: str, placed: Sequence[Placed]) -> SealedPdf:
    pdf = reader.data
    start, end = (place - len(pdf) for place in written.hole)
    original_hash = hashlib.sha256(pdf)
    document = original_hash.copy()
    with memoryview(written.text) as text:
        document.update(text[:start])
        document.update(text[end:])
    cms = template(order.key)
    attributes = cms.signed_attributes(document.digest())
    signature = order.key.sign(attributes)
    stamp, failures = None, list[str]()
    if order.timestamping is not None:
        stamp, failures = stamp_time(hashlib.sha256(signature.value).digest(), order.timestamping)
    token = stamp.token if stamp else b""
    contents = cms.assemble(attributes, signature.value, token).hex().encode()
    if len(contents) > end - start - 2:
        raise _TokenTooLarge(len(token))
    written.text[start + 1 : start + 1 + len(contents)] = contents
    content = pdf + written.text
    check(
        content,
        pdf,
        original_hash=original_hash,
        encryption=reader.encryption,
        certificates=without_root(order.key.certificate, order.key.chain),
        token=token,
        placed=placed,
    )
    whole = original_hash.copy()
    whole.update(written.text)
    return SealedPdf(
        content=content,
        sha256=whole.digest(),
        signing_algorithm=order.key.algorithm,
        kms_key_id=order.key.key_id,
        kms_request_id=signature.request_id,
        timestamp=stamp,
        timestamp_failures=failures,
        method=method,
    )
