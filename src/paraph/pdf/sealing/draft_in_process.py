"""Drafts of seals in this process: for files that the service made itself, and inside the sandbox."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paraph.pdf.drawing.draw import draw
from paraph.pdf.drawing.drawing_check import Placed
from paraph.pdf.errors import SealError
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.sealing import archive
from paraph.pdf.sealing.seal_draft import ExpectedSeal, SealContent, SealDraft, UnsignedRevision
from paraph.pdf.sealing.security_store import extend_store
from paraph.pdf.sealing.self_check import check
from paraph.pdf.structure import signature_field
from paraph.pdf.structure.extendable import Method, forms
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.pending_revision import Following
from paraph.pdf.structure.reader import Reader
from paraph.pdf.structure.revision import Revision, Written


def drafts_in_process(pdf: bytes, content: SealContent) -> Iterator[SealDraft]:
    """Yields a draft for each form of the file, made when it is needed. Raises
    :class:`~paraph.pdf.structure.normalise.Unreadable` after the last."""
    for method, form in forms(pdf):
        yield DraftInProcess(form, method, content)


class DraftInProcess:
    """A :class:`~paraph.pdf.sealing.seal_draft.SealDraft` that keeps what it has read from one step to the next."""

    def __init__(self, pdf: bytes, method: Method, content: SealContent) -> None:
        self.pdf, self.method = pdf, method
        self._content = content
        self._sealing: SealRevision
        self._written: Written

    def seal_revision(self, data: LongTermData, hole: int) -> UnsignedRevision:
        self._sealing = seal_revision(Reader(self.pdf), self._content, data, hole)
        self._written = self._sealing.revision.write()
        return unsigned_revision(self._written, len(self.pdf))

    def archive_revision(self, sealed: bytes | bytearray, missing: LongTermData, hole: int) -> UnsignedRevision:
        following = Following(self._sealing.revision, self._written)
        written = archive.archive_revision(following, missing, self._sealing.names, hole).write()
        return unsigned_revision(written, len(self.pdf) + len(sealed))

    def check(self, content: bytes, original_hash: "hashlib._Hash", expected: ExpectedSeal) -> None:
        start, placed = self._sealing.start, self._sealing.placed
        check(content, self.pdf, original_hash=original_hash, original_start=start, placed=placed, **vars(expected))


@dataclass(frozen=True)
class SealRevision:
    """The revision of a seal, complete but for the value of its signature. ``names``: of the form's fields before it;
    ``placed``: the drawings to be found again."""

    revision: Revision
    names: frozenset[bytes]
    placed: Sequence[Placed]

    @property
    def start(self) -> int | None:
        """The position of the file's newest cross-reference."""
        return self.revision.reader.crossreference.start


def seal_revision(reader: Reader, content: SealContent, data: LongTermData, hole: int) -> SealRevision:
    """Builds the revision of the seal, with room for a value of ``hole`` bytes. Raises ``SealError`` and ``Unsafe``."""
    revision = Revision(reader)
    standing = signature_field.standing(revision)
    if standing.changes_forbidden:
        raise SealError("The PDF is certified and forbids any change, so it cannot be sealed.")
    drawn = draw(revision, content.appearances, content.marks, content.page_overlay, signed=standing.signatures > 0)
    first = next(pages(reader), None)
    if first is None:
        raise SealError("The PDF has no pages.")
    if data:
        extend_store(revision, data)
    signature = revision.reserve()
    widgets = drawn.widgets or [signature_field.Widget(first, (0, 0, 0, 0), None)]
    signature_field.add_field(revision, signature, standing.field_names, widgets)
    value = signature_field.signature_dictionary(content.at, content.reason, content.name)
    revision.put_signature(signature, value, hole)
    return SealRevision(revision, standing.field_names, drawn.placed)


def unsigned_revision(written: Written, size: int) -> UnsignedRevision:
    """Turns a written revision after a file of ``size`` bytes into one whose hole counts from its own start."""
    start, end = (place - size for place in written.hole)
    return UnsignedRevision(written.text, start, end)
