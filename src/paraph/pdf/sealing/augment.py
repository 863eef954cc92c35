"""Augmentation of a timestamped seal to the highest PAdES level that it can reach (ETSI EN 319 142-1).

The archive timestamp is one more revision, whose signature is an RFC 3161 token over the whole file (§5.4.3). It also
carries the long-term data that was not known at the seal.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from paraph.pdf.pki.certificate import Untrusted, check_chain, load, missing_issuer
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.pki.statuses import Chain, CollectedStatuses, LongTerm
from paraph.pdf.report import Level
from paraph.pdf.sealing.draft import SealDraft
from paraph.pdf.timestamps.timestamp import Timestamp, Timestamping, stamp_time

_MARGIN = 512
_TRIES = 3


@dataclass(frozen=True)
class Augmented:
    """The end of the finished file, and the level reached."""

    text: bytes | bytearray
    """What follows the original bytes."""
    hash: "hashlib._Hash"
    """The SHA-256 state after the whole file."""
    level: Level
    data: LongTermData
    """The long-term data in the file."""
    reasons: tuple[str, ...] = ()
    """A sentence for each thing that kept the seal from the configured level."""
    archive: Timestamp | None = None


def augment(
    draft: SealDraft,
    sealed: bytes | bytearray,
    sealed_hash: "hashlib._Hash",
    *,
    seal_timestamp: Timestamp | None,
    key_chain: Chain,
    long_term: LongTerm | None,
    timestamping: Timestamping | None,
    collected: CollectedStatuses,
) -> Augmented | None:
    """Add long-term data and an archive timestamp, as far as ``long_term`` demands and authorities allow.

    ``sealed``: the revision of the seal; ``sealed_hash``: the SHA-256 state after it; ``collected``: the statuses
    already in it. Returns ``None`` where the seal must be written again: its timestamp came from an unexpected
    authority, whose statuses are known now and belong into the revision of the seal.
    """
    if seal_timestamp is None or timestamping is None or long_term is None:
        level: Level = "B-T" if seal_timestamp else "B-B"
        return Augmented(sealed, sealed_hash, level, collected.data, collected.missing)
    moment, chain = seal_timestamp.time, seal_timestamp.chain
    if reason := _untrusted(key_chain, moment):
        return Augmented(sealed, sealed_hash, "B-T", collected.data, tuple(dict.fromkeys((*collected.missing, reason))))
    chains = [(key_chain, moment), (chain, moment)]
    added, reasons = LongTermData(), collected.missing
    if not _proven(chains, collected.data):
        others = long_term.collect(key_chain, chain)
        added, reasons = others.data, others.missing
    expected_chain = long_term.authority_chain
    long_term.authority_chain = chain
    level = "B-LT" if _proven(chains, collected.data) else "B-T"
    if not _proven(chains, collected.data + added):
        return Augmented(sealed, sealed_hash, level, collected.data, reasons)
    if not long_term.archive:
        done = level == "B-LT" or expected_chain == chain
        return Augmented(sealed, sealed_hash, level, collected.data) if done else None
    archived, failures = _archive(
        draft,
        sealed,
        sealed_hash,
        timestamping=timestamping.preferring(seal_timestamp.url),
        token_size=len(seal_timestamp.token),
        present=collected.data,
        missing=added,
    )
    if archived is None:
        reason = f"No archive timestamp could be had. {' '.join(failures)}"
        return Augmented(sealed, sealed_hash, level, collected.data, (*reasons, reason))
    data, stamp = collected.data + added + archived.timestamp.issuers, archived.timestamp
    return Augmented(sealed + archived.text, archived.hash, "B-LTA", data, archive=stamp)


def _untrusted(key_chain: Chain, moment: datetime) -> str:
    """Return why no verifier would trust the key's certificate, as a sentence: that holds a seal at B-T."""
    if missing := missing_issuer(key_chain):
        return f"{missing}."
    own = load(key_chain[0])
    try:
        if not own.for_documents:
            raise Untrusted("its certificate is not one for documents")
        check_chain(own, key_chain[1:], key_chain[-1:], moment)
    except Untrusted as error:
        return f'"{own.name}" is not trusted: {error}.'
    return ""


def _proven(chains: Sequence[tuple[Chain, datetime]], data: LongTermData) -> bool:
    try:
        return all(data.proves(chain, moment) for chain, moment in chains)
    except Revoked:
        return False


@dataclass(frozen=True)
class _Archived:
    """The archive revision, and the SHA-256 state after the whole file with it."""

    text: bytearray
    hash: "hashlib._Hash"
    timestamp: Timestamp


def _archive(
    draft: SealDraft,
    sealed: bytes | bytearray,
    sealed_hash: "hashlib._Hash",
    *,
    timestamping: Timestamping,
    token_size: int,
    present: LongTermData,
    missing: LongTermData,
) -> tuple[_Archived | None, list[str]]:
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
            return _Archived(written.text, whole, stamp), failures
    return None, [*failures, "The timestamps grow with every attempt."]
