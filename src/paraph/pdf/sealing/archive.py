"""The archive timestamp: one more revision, whose signature is an RFC 3161 token over all bytes before it
(ETSI EN 319 142-1 §5.4.3). Long-term data that came to light after the seal joins it there."""

import hashlib
from dataclasses import dataclass

from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.sealing.draft import Draft
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
    """The last revision, and SHA-256 of the whole file with it, not finished."""

    text: bytearray
    hash: "hashlib._Hash"
    timestamp: Timestamp


def archive(
    draft: Draft,
    sealed: bytes | bytearray,
    sealed_hash: "hashlib._Hash",
    *,
    timestamping: Timestamping,
    token_size: int,
    missing: LongTermData,
) -> tuple[Archived | None, list[str]]:
    """``None``, and a sentence for each authority that failed, where none of them gives a timestamp.

    ``sealed`` is what the seal appended; ``sealed_hash`` SHA-256 after it; ``token_size`` the expected size of the
    token.
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


def archive_revision(reader: PdfReader, missing: LongTermData, names: frozenset[bytes], size: int) -> Revision:
    """The revision with room for a token of ``size`` bytes; ``names``: of the file's form fields, as tokens. The same
    file and data give the same text."""
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
