"""The archive timestamp: one more revision, whose signature is an RFC 3161 token over the whole file
(ETSI EN 319 142-1 §5.4.3). It also carries the long-term data that was not known at the seal.

That lies in the document security store (ISO 32000-2, 12.8.4.3; ETSI EN 319 142-1 §5.4.2). There is no /VRI: it names a
seal by the digest of its value, which does not exist yet when the store is written. The lists serve all signatures.
"""

import hashlib
import zlib
from dataclasses import dataclass
from functools import lru_cache

from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.sealing.seal_draft import SealDraft
from paraph.pdf.structure import signature_fields
from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref, Unsafe
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.timestamps.timestamp import Timestamp, Timestamping, stamp_time

_KEYS = (b"/Certs", b"/CRLs", b"/OCSPs")
_PADES: Dictionary = {b"/BaseVersion": b"/1.7", b"/ExtensionLevel": 1}
_MARGIN = 512
_TRIES = 3
_NOWHERE = (0, 0, 0, 0)


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


@dataclass(frozen=True)
class Archived:
    """The archive revision, and the SHA-256 state after the whole file with it."""

    text: bytearray
    hash: "hashlib._Hash"
    timestamp: Timestamp


def archive(
    draft: SealDraft,
    sealed: bytes | bytearray,
    sealed_hash: "hashlib._Hash",
    *,
    timestamping: Timestamping,
    token_size: int,
    present: LongTermData,
    missing: LongTermData,
) -> tuple[Archived | None, list[str]]:
    """Make the archive revision; return it with a sentence for each authority that failed, ``None`` where all did.

    ``sealed``: the revision of the seal; ``sealed_hash``: the SHA-256 state after it; ``token_size``: the expected
    size of the token in bytes; ``present``: the long-term data in the revision of the seal; ``missing``: that to add,
    besides the issuers of an authority that nobody expected.
    """
    failures: list[str] = []
    for _ in range(_TRIES):
        size = token_size + _MARGIN
        written = draft.archive_revision(sealed, missing, size)
        covered = written.hashed_after(sealed_hash)
        stamp, failures = stamp_time(covered.digest(), timestamping)
        if stamp is None:
            return None, failures
        token_size = len(stamp.token)
        if not (present + missing).holds(stamp.issuers):
            missing += stamp.issuers
        elif token_size <= size:
            token = stamp.token.hex().encode()
            written.fill(token)
            whole = sealed_hash.copy()
            whole.update(written.text)
            return Archived(written.text, whole, stamp), failures
    return None, [*failures, "The timestamps grow with every attempt."]


def archive_revision(reader: PdfReader, missing: LongTermData, names: frozenset[str], size: int) -> Revision:
    """Build the revision, reproducibly, with room for a token of ``size`` bytes. ``names``: of the form fields."""
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
