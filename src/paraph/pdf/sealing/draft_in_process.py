"""Drafts of seals in this process: for files that the service made itself, and inside the sandbox."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from paraph.pdf.drawing.draw import draw_marks
from paraph.pdf.drawing.drawing_check import ExpectedDrawing
from paraph.pdf.errors import SealError
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.sealing import archive
from paraph.pdf.sealing.archive import extend_store
from paraph.pdf.sealing.seal_draft import ExpectedSeal, SealContent, SealDraft, UnsignedRevision
from paraph.pdf.sealing.self_check import check
from paraph.pdf.structure import signature_field
from paraph.pdf.structure.normalise import Method, extendable_variants
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import PendingRevision, Revision, WrittenRevision
from paraph.pdf.structure.signature_field import existing_signatures


def drafts_in_process(pdf: bytes, content: SealContent) -> Iterator[SealDraft]:
    """Yield a draft for each form of the file, made when it is needed. Raises
    :class:`~paraph.pdf.structure.normalise.UnreadablePdf` after the last."""
    for method, form in extendable_variants(pdf):
        known = replace(content, clean_contents=content.clean_contents and method == "incremental")
        yield DraftInProcess(form, method, known)


class DraftInProcess:
    """A :class:`~paraph.pdf.sealing.seal_draft.SealDraft` that keeps what it has read from one step to the next."""

    def __init__(self, pdf: bytes, method: Method, content: SealContent) -> None:
        self.pdf, self.method = pdf, method
        self._content = content
        self._sealing: SealRevision
        self._written: WrittenRevision

    def seal_revision(self, data: LongTermData, hole: int) -> UnsignedRevision:
        self._sealing = seal_revision(
            PdfReader(self.pdf, is_closed=self._content.clean_contents), self._content, data, hole
        )
        self._written = self._sealing.revision.write()
        return unsigned_revision(self._written, len(self.pdf))

    def archive_revision(self, sealed: bytes | bytearray, missing: LongTermData, hole: int) -> UnsignedRevision:
        following = PendingRevision(self._sealing.revision, self._written)
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
    names: frozenset[str]
    placed: Sequence[ExpectedDrawing]

    @property
    def start(self) -> int | None:
        """The position of the file's newest cross-reference."""
        return self.revision.reader.crossreference.start


def seal_revision(reader: PdfReader, content: SealContent, data: LongTermData, hole: int) -> SealRevision:
    """Build the revision of the seal, with room for a value of ``hole`` bytes. Raises ``SealError`` and ``Unsafe``."""
    revision = Revision(reader)
    existing = existing_signatures(revision)
    if existing.certified:
        raise SealError("The PDF is certified and permits no further seal, so it cannot be sealed.")
    if b"/KDFSalt" in (reader.resolve(reader.trailer.get(b"/Encrypt")) or {}):
        raise SealError("The PDF is encrypted with an integrity code (ISO/TS 32004), which a seal would break.")
    signed = existing.signatures > 0
    drawn = draw_marks(
        revision,
        content.appearances,
        content.marks,
        content.page_overlay,
        signed=signed,
        clean_contents=content.clean_contents,
    )
    first = next(pages(reader), None)
    if first is None:
        raise SealError("The PDF has no pages.")
    if data:
        extend_store(revision, data)
    signature = revision.reserve()
    widgets = drawn.widgets or [signature_field.FieldWidget(first, (0, 0, 0, 0), None)]
    signature_field.add_field(revision, signature, existing.field_names, widgets, signed=signed)
    if not signed:
        signature_field.order_by_structure(revision, first)
    value = signature_field.signature_dictionary(content.at, content.reason, content.name)
    revision.put_signature(signature, value, hole)
    return SealRevision(revision, existing.field_names, drawn.placed)


def unsigned_revision(written: WrittenRevision, size: int) -> UnsignedRevision:
    """Turn a written revision after a file of ``size`` bytes into one whose hole counts from its own start."""
    start, end = (place - size for place in written.hole)
    return UnsignedRevision(written.text, start, end)
