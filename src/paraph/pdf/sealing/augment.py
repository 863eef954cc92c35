"""Augmentation of a timestamped seal to the highest PAdES level that it can reach (ETSI EN 319 142-1).

The archive timestamp is one more revision, whose signature is an RFC 3161 token over the whole file (§5.4.3). It also
carries the long-term data that was not known at the seal.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from paraph.keys import SigningKey
from paraph.pdf.pki.certificate import Untrusted, check_chain, load, missing_issuer
from paraph.pdf.pki.purpose import Purpose
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.pki.statuses import Chain, CollectedStatuses, LongTerm
from paraph.pdf.report import Level
from paraph.pdf.sealing.draft import SealDraft
from paraph.pdf.timestamps.timestamp import Timestamp, Timestamping, stamp_time

_MARGIN = 512
_TRIES = 3


@dataclass(frozen=True)
class SealingOptions:
    """With what a file is sealed."""

    key: SigningKey
    purpose: Purpose
    timestamping: Timestamping | None
    long_term: LongTerm | None
    at: datetime
    hashed: "hashlib._Hash"
    """The SHA-256 state after the file; a form of it that is another has another."""

    @property
    def key_chain(self) -> Chain:
        return (self.key.certificate, *self.key.chain)


@dataclass(frozen=True)
class Signed:
    """The signed revision of the seal. ``hash``: the SHA-256 state after it, ``original_hash``: before it."""

    text: bytearray
    hash: "hashlib._Hash"
    original_hash: "hashlib._Hash"
    kms_request_id: str
    timestamp: Timestamp | None
    failures: list[str]


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
    draft: SealDraft, signed: Signed, options: SealingOptions, collected: CollectedStatuses
) -> Augmented | None:
    """Add long-term data and an archive timestamp, as far as ``options`` demand and authorities allow.

    ``collected``: the statuses that are already in the revision of the seal. Returns ``None`` where the seal must be
    written again: its timestamp came from an unexpected authority, whose statuses are known now and belong into that
    revision.
    """
    stamp, long_term, timestamping = signed.timestamp, options.long_term, options.timestamping
    as_sealed = partial(Augmented, signed.text, signed.hash, data=collected.data)
    if stamp is None or timestamping is None or long_term is None:
        return as_sealed("B-T" if stamp else "B-B", reasons=collected.missing)
    if reason := _untrusted(options.key_chain, stamp.time):
        return as_sealed("B-T", reasons=tuple(dict.fromkeys((*collected.missing, reason))))
    chains = [(options.key_chain, stamp.time), (stamp.chain, stamp.time)]
    added, reasons = LongTermData(), collected.missing
    if not _proven(chains, collected.data):
        others = long_term.collect(options.key_chain, stamp.chain)
        added, reasons = others.data, others.missing
    expected_chain = long_term.authority_chain
    long_term.authority_chain = stamp.chain
    level: Level = "B-LT" if _proven(chains, collected.data) else "B-T"
    if not _proven(chains, collected.data + added):
        return as_sealed(level, reasons=reasons)
    if not long_term.archive:
        return as_sealed(level) if level == "B-LT" or expected_chain == stamp.chain else None
    archived, failures = _archive(draft, signed, timestamping.preferring(stamp.url), collected.data, added)
    if archived is None:
        return as_sealed(level, reasons=(*reasons, f"No archive timestamp could be had. {' '.join(failures)}"))
    return archived


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


def _archive(
    draft: SealDraft, signed: Signed, timestamping: Timestamping, present: LongTermData, missing: LongTermData
) -> tuple[Augmented | None, list[str]]:
    """Add the archive revision; return the result with a sentence for each authority that failed, ``None`` where all
    did.

    ``present``: the long-term data in the revision of the seal; ``missing``: that to add, besides the issuers of an
    authority that nobody expected.
    """
    token_size, failures = len(signed.timestamp.token) if signed.timestamp else 0, list[str]()
    for _ in range(_TRIES):
        size = token_size + _MARGIN
        written = draft.archive_revision(signed.text, missing, size)
        covered = written.hashed_after(signed.hash)
        stamp, failures = stamp_time(covered.digest(), timestamping)
        if stamp is None:
            return None, failures
        token_size = len(stamp.token)
        if not (present + missing).holds(stamp.issuers):
            missing += stamp.issuers
        elif token_size <= size:
            written.fill(stamp.token.hex().encode())
            whole = signed.hash.copy()
            whole.update(written.text)
            data = present + missing + stamp.issuers
            return Augmented(signed.text + written.text, whole, "B-LTA", data, archive=stamp), failures
    return None, [*failures, "The timestamps grow with every attempt."]
