"""Drafts of seals: the interface between sealing and the file, to read it, append revisions and check the result.

A file is parsed only behind :class:`SealDraft`, which never gets the key: in this process if the service made the file
itself, in a sandboxed one for all other files (:mod:`paraph.pdf.untrusted.sandboxed_draft`).

Long-term data lies in the document security store (ISO 32000-2, 12.8.4.3; ETSI EN 319 142-1 §5.4.2). There is no /VRI:
it names a seal by the digest of its value, which does not exist yet when the store is written. The lists serve all
signatures.
"""

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Protocol

from paraph.pdf.drawing.draw import draw_marks
from paraph.pdf.drawing.marks import ExpectedDrawing, Mark, Overlay
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.refusal import SealError
from paraph.pdf.sealing.self_check import ExpectedSeal, check
from paraph.pdf.structure import signature_fields
from paraph.pdf.structure.normalise import Method, extendable_variants
from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref, Unsafe
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import PendingRevision, Revision, WrittenRevision
from paraph.pdf.structure.signature_fields import existing_signatures

_KEYS = (b"/Certs", b"/CRLs", b"/OCSPs")
_PADES: Dictionary = {b"/BaseVersion": b"/1.7", b"/ExtensionLevel": 1}
_NOWHERE = (0, 0, 0, 0)


@dataclass(frozen=True)
class SealContent:
    """What the revision of a seal shows and states. ``appearances``: a PDF with the pictures of marks and overlay.
    ``clean_contents``: see :func:`paraph.pdf.sealing.seal.seal`."""

    appearances: bytes
    marks: Sequence[Mark]
    page_overlay: Overlay | None
    reason: str
    name: str
    at: datetime
    clean_contents: bool = False


class SealDraft(Protocol):
    """One form of a file while it is sealed. The steps come in this order and may raise ``SealError`` or ``Unsafe``."""

    @property
    def method(self) -> Method:
        """How the form was made from the file."""

    @property
    def pdf(self) -> bytes:
        """The form, with which the sealed file begins. Known after :meth:`seal_revision`."""

    def seal_revision(self, data: LongTermData, hole: int) -> WrittenRevision:
        """Write the revision of the seal, with ``data`` and room for a value of ``hole`` bytes. Repeatable."""

    def archive_revision(self, sealed: bytes | bytearray, missing: LongTermData, hole: int) -> WrittenRevision:
        """Write the revision of an archive timestamp after ``sealed``, the signed revision of the seal."""

    def check(self, content: bytes, original_hash: "hashlib._Hash", expected: ExpectedSeal) -> None:
        """Read the finished file again. Raise ``SealError`` unless it contains what it must. ``original_hash``: the
        SHA-256 state after the form."""


def drafts_in_process(pdf: bytes, content: SealContent) -> Iterator[SealDraft]:
    """Yield a draft for each form of the file, made when it is needed. Raise
    :class:`~paraph.pdf.structure.normalise.UnreadablePdf` after the last."""
    for method, form in extendable_variants(pdf):
        known = replace(content, clean_contents=content.clean_contents and method == "incremental")
        yield DraftInProcess(form, method, known)


class DraftInProcess:
    """A :class:`SealDraft` that keeps what it has read from one step to the next."""

    def __init__(self, pdf: bytes, method: Method, content: SealContent) -> None:
        self.pdf, self.method = pdf, method
        self._content = content
        self._sealing: SealRevision

    def seal_revision(self, data: LongTermData, hole: int) -> WrittenRevision:
        reader = PdfReader(self.pdf, is_closed=self._content.clean_contents)
        self._sealing = seal_revision(reader, self._content, data, hole)
        return self._sealing.revision.write()

    def archive_revision(self, sealed: bytes | bytearray, missing: LongTermData, hole: int) -> WrittenRevision:
        del sealed  # the revision itself is at hand
        return archive_revision(PendingRevision(self._sealing.revision), missing, self._sealing.names, hole).write()

    def check(self, content: bytes, original_hash: "hashlib._Hash", expected: ExpectedSeal) -> None:
        start, placed = self._sealing.revision.reader.crossreference.start, self._sealing.placed
        if not content.startswith(self.pdf):
            raise SealError("The uploaded bytes are not the beginning of the sealed file.")
        check(content, len(self.pdf), original_hash, original_start=start, placed=placed, expected=expected)


@dataclass(frozen=True)
class SealRevision:
    """The revision of a seal, complete but for the value of its signature. ``names``: those of the form's fields
    before it; ``placed``: the drawings that the check must find again."""

    revision: Revision
    names: frozenset[str]
    placed: Sequence[ExpectedDrawing]


def seal_revision(reader: PdfReader, content: SealContent, data: LongTermData, hole: int) -> SealRevision:
    """Build the revision of the seal, with room for a value of ``hole`` bytes. Raise ``SealError`` or ``Unsafe``."""
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
    widgets = drawn.widgets or [signature_fields.FieldWidget(first, _NOWHERE, None)]
    signature_fields.add_field(revision, signature, existing.field_names, widgets, signed=signed)
    if not signed:
        signature_fields.order_by_structure(revision, first)
    value = signature_fields.signature_dictionary(content.at, content.reason, content.name)
    revision.put_signature(signature, value, hole)
    return SealRevision(revision, existing.field_names, drawn.placed)


def archive_revision(reader: PdfReader, missing: LongTermData, names: frozenset[str], size: int) -> Revision:
    """Build an archive timestamp's revision, reproducibly. ``size``: bytes for its token; ``names``: of form fields."""
    revision = Revision(reader)
    if missing:
        extend_store(revision, missing)
    first = next(pages(reader), None)
    if first is None:
        raise Unsafe("the sealed file lost its pages")
    signature = revision.reserve()
    signature_fields.add_field(
        revision,
        signature,
        names,
        [signature_fields.FieldWidget(first, _NOWHERE, None)],
        signed=True,
        name=signature_fields.ARCHIVE_TIMESTAMP,
    )
    revision.put_signature(signature, signature_fields.timestamp_dictionary(), size)
    return revision


def extend_store(revision: Revision, data: LongTermData) -> None:
    """Add the data that the file's store lacks, and the store itself where there is none, and declare in the catalog
    that the file uses PAdES. Nothing is removed, and a catalog that has both stays as it is."""
    root_ref = revision.reader.trailer[b"/Root"]
    root = revision.resolve(root_ref)
    reference = root.get(b"/DSS")
    existing = revision.resolve(reference)
    if type(reference) is Ref and isinstance(existing, dict):
        store = revision.change(reference)
    else:
        store = dict(existing) if isinstance(existing, dict) else {}
        revision.change(root_ref)[b"/DSS"] = revision.add(store)
    for key, items in zip(_KEYS, data.lists, strict=True):
        _extend_list(revision, store, key, items)
    extensions = revision.resolve(root.get(b"/Extensions"))
    declared = extensions if isinstance(extensions, dict) else {}
    if b"/ESIC" not in declared:  # for readers of PDF 1.7
        revision.change(root_ref)[b"/Extensions"] = {**declared, b"/ESIC": _PADES}


def _extend_list(revision: Revision, store: Dictionary, key: bytes, items: tuple[bytes, ...]) -> None:
    """Add the items that are not in the list yet. Streams are compared as encoded, which recognizes those of earlier
    seals of this service; streams of other programs are never decoded."""
    existing = revision.resolve(store.get(key))
    listed = existing if isinstance(existing, list) else []
    present = {stream.data for stream in map(revision.resolve, listed) if isinstance(stream, PdfStream)}
    added = [revision.add(_stream(item)) for item in items if _stream(item).data not in present]
    if added:
        store[key] = [*listed, *added]


@lru_cache(maxsize=256)
def _stream(item: bytes) -> PdfStream:
    """Compress an item once for all files that carry it."""
    compressed = zlib.compress(item, 9)
    if len(compressed) >= len(item):
        return PdfStream({}, item)
    return PdfStream({b"/Filter": b"/FlateDecode"}, compressed)
