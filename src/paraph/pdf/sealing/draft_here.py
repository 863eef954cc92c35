"""Drafts of seals whose files are read in this process: files of our own, and any where the caller is sandboxed."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paraph.pdf.drawing.draw import draw
from paraph.pdf.drawing.drawing_check import Placed
from paraph.pdf.errors import SealError
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.sealing import archive
from paraph.pdf.sealing.draft import Draft, Expected, Holed, Wanted
from paraph.pdf.sealing.security_store import extend_store
from paraph.pdf.sealing.self_check import check
from paraph.pdf.structure import signature_field
from paraph.pdf.structure.extendable_variants import Method, forms
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.pending_revision import Following
from paraph.pdf.structure.reader import Reader
from paraph.pdf.structure.revision import Revision, Written


def drafts_here(pdf: bytes, wanted: Wanted) -> Iterator[Draft]:
    """The drafts of the forms that a file has, read in this process; each is made when it is asked for. Raises
    :class:`~paraph.pdf.structure.normalise.Unreadable` at the last."""
    for method, form in forms(pdf):
        yield DraftHere(form, method, wanted)


class DraftHere:
    """Keeps what it has read from one step to the next."""

    def __init__(self, pdf: bytes, method: Method, wanted: Wanted) -> None:
        self.pdf, self.method = pdf, method
        self._wanted = wanted
        self._prepared: Prepared
        self._written: Written

    def seal_revision(self, data: LongTermData, hole: int) -> Holed:
        """See :class:`~paraph.pdf.sealing.draft.Draft`."""
        self._prepared = prepared(Reader(self.pdf), self._wanted, data, hole)
        self._written = self._prepared.revision.write()
        return holed(self._written, len(self.pdf))

    def archive_revision(self, sealed: bytes | bytearray, missing: LongTermData, hole: int) -> Holed:
        """See :class:`~paraph.pdf.sealing.draft.Draft`."""
        following = Following(self._prepared.revision, self._written)
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
    placed: Sequence[Placed]

    @property
    def start(self) -> int | None:
        """Where the newest cross-reference of the file begins."""
        return self.revision.reader.crossreference.start


def prepared(reader: Reader, wanted: Wanted, data: LongTermData, hole: int) -> Prepared:
    """The revision of the seal. Raises ``SealError`` and ``Unsafe``."""
    revision = Revision(reader)
    standing = signature_field.standing(revision)
    if standing.changes_forbidden:
        raise SealError("The PDF is certified and forbids any change, so it cannot be sealed.")
    drawn = draw(revision, wanted.appearances, wanted.marks, wanted.page_overlay, signed=standing.signatures > 0)
    first = next(pages(reader), None)
    if first is None:
        raise SealError("The PDF has no pages.")
    if data:
        extend_store(revision, data)
    signature = revision.reserve()
    widgets = drawn.widgets or [signature_field.Widget(first, (0, 0, 0, 0), None)]
    signature_field.add_field(revision, signature, standing.field_names, widgets)
    revision.put_signature(signature, signature_field.signature_dictionary(wanted.at, wanted.reason, wanted.name), hole)
    return Prepared(revision, standing.field_names, drawn.placed)


def holed(written: Written, size: int) -> Holed:
    """``size``: of all that stands before the revision."""
    start, end = (place - size for place in written.hole)
    return Holed(written.text, start, end)
