"""The archive timestamp: one more revision, whose signature is an RFC 3161 token over the whole file
(ETSI EN 319 142-1 §5.4.3). It also carries the long-term data that was not known at the seal."""

import hashlib
from dataclasses import dataclass

from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.sealing.seal_draft import SealDraft
from paraph.pdf.sealing.security_store import extend_store
from paraph.pdf.structure import signature_field
from paraph.pdf.structure.objects import Unsafe
from paraph.pdf.structure.pages import pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.timestamps.timestamp import Timestamp, Timestamping, stamp_time

_MARGIN = 512
_TRIES = 3
_NOWHERE = (0, 0, 0, 0)


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
    missing: LongTermData,
) -> tuple[Archived | None, list[str]]:
    """Make the archive revision; return it with a sentence for each authority that failed, ``None`` where all did.

    ``sealed``: the revision of the seal; ``sealed_hash``: the SHA-256 state after it; ``token_size``: the expected
    size of the token in bytes; ``missing``: the long-term data to add.
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
        if token_size <= size:
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
    signature_field.add_field(
        revision,
        signature,
        names,
        [signature_field.FieldWidget(first, _NOWHERE, None)],
        signature_field.ARCHIVE_TIMESTAMP,
    )
    revision.put_signature(signature, signature_field.timestamp_dictionary(), size)
    return revision
