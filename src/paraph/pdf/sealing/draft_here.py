"""Drafts of seals whose files are read in this process: files of our own, and any where the caller is sandboxed."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paraph.pdf.drawing.draw import draw_marks
from paraph.pdf.drawing.drawing_check import ExpectedDrawing
from paraph.pdf.errors import SealError
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.sealing import archive
from paraph.pdf.sealing.draft import Draft, Expected, Holed, Wanted
from paraph.pdf.sealing.security_store import extend_store
from paraph.pdf.sealing.self_check import check
from paraph.pdf.structure import signature_field
from paraph.pdf.structure.existing_signatures import existing_signatures
from paraph.pdf.structure.extendable_variants import Method, extendable_variants
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.pending_revision import PendingRevision
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision, WrittenRevision


def drafts_here(pdf: bytes, wanted: Wanted) -> Iterator[Draft]:
    """The drafts of the forms that a file has, read in this process; each is made when it is asked for. Raises
    :class:`~paraph.pdf.structure.normalise.UnreadablePdf` at the last."""
    for method, form in extendable_variants(pdf):
        yield DraftHere(form, method, wanted)


class DraftHere:
    """Keeps what it has read from one step to the next."""

    def __init__(self, pdf: bytes, method: Method, wanted: Wanted) -> None:
        self.pdf, self.method = pdf, method
        self._wanted = wanted
        self._prepared: Prepared
        self._written: WrittenRevision

    def seal_revision(self, data: LongTermData, hole: int) -> Holed:
        """See :class:`~paraph.pdf.sealing.draft.Draft`."""
        self._prepared = prepared(PdfReader(self.pdf), self._wanted, data, hole)
        self._written = self._prepared.revision.write()
        return holed(self._written, len(self.pdf))

    def archive_revision(self, sealed: bytes | bytearray, missing: LongTermData, hole: int) -> Holed:
        """See :class:`~paraph.pdf.sealing.draft.Draft`."""
        following = PendingRevision(self._prepared.revision, self._written)
        written = archive.archive_revision(following, missing, self._prepared.names, hole).write()
        return holed(written, len(self.pdf) + len(sealed))

    def check(self, content: bytes, original_hash: "hashlib._Hash", expected: Expected) -> None:
        """See :class:`~paraph.pdf.sealing.draft.Draft`."""
        start, placed = self._prepared.start, self._prepared.placed
        check(content, self.pdf, original_hash=original_hash, original_start=start, placed=placed, **vars(expected))


@dataclass(frozen=True)
class Prepared:
    """The revision of the seal with everything but its signature's value; ``names``: of the fields before it."""

    revision: Revision
    names: frozenset[bytes]
    placed: Sequence[ExpectedDrawing]

    @property
    def start(self) -> int | None:
        """Where the newest cross-reference of the file begins."""
        return self.revision.reader.crossreference.start


def prepared(reader: PdfReader, wanted: Wanted, data: LongTermData, hole: int) -> Prepared:
    """The revision of the seal. Raises ``SealError`` and ``Unsafe``."""
    revision = Revision(reader)
    existing = existing_signatures(revision)
    if existing.changes_forbidden:
        raise SealError("The PDF is certified and forbids any change, so it cannot be sealed.")
    drawn = draw_marks(revision, wanted.appearances, wanted.marks, wanted.page_overlay, signed=existing.signatures > 0)
    first = next(pages(reader), None)
    if first is None:
        raise SealError("The PDF has no pages.")
    if data:
        extend_store(revision, data)
    signature = revision.reserve()
    widgets = drawn.widgets or [signature_field.FieldWidget(first, (0, 0, 0, 0), None)]
    signature_field.add_field(revision, signature, existing.field_names, widgets)
    revision.put_signature(signature, signature_field.signature_dictionary(wanted.at, wanted.reason, wanted.name), hole)
    return Prepared(revision, existing.field_names, drawn.placed)


def holed(written: WrittenRevision, size: int) -> Holed:
    """``size``: of all that stands before the revision."""
    start, end = (place - size for place in written.hole)
    return Holed(written.text, start, end)
