"""From a timestamped seal to the highest level that can be had, stated as what it is."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from paraph.pdf.pki.revocation_data import LongTermData, Revoked
from paraph.pdf.pki.statuses import Chain, CollectedStatuses, LongTerm
from paraph.pdf.report import Level
from paraph.pdf.sealing.archive import archive
from paraph.pdf.sealing.seal_draft import SealDraft
from paraph.pdf.timestamps.timestamp import Timestamp, Timestamping


@dataclass(frozen=True)
class Augmented:
    """What follows the upload in the finished file. ``hash`` is SHA-256 of all of it; ``data`` the statuses that are
    in it; ``reasons`` a sentence for each thing that kept it from the level asked for."""

    text: bytes | bytearray
    hash: "hashlib._Hash"
    level: Level
    data: LongTermData
    reasons: tuple[str, ...] = ()
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
    found: CollectedStatuses,
) -> Augmented | None:
    """``sealed``: what the seal appended; ``found``: the statuses that it carries already.

    ``None``: the timestamp came from another authority than expected, whose statuses are known now and belong into
    the revision of the seal; it must be written again.
    """
    if seal_timestamp is None or timestamping is None or long_term is None:
        level: Level = "B-T" if seal_timestamp else "B-B"
        return Augmented(sealed, sealed_hash, level, found.data, found.missing)
    moment, chain = seal_timestamp.time, seal_timestamp.chain
    chains = [(key_chain, moment), (chain, moment)]
    added, reasons = LongTermData(), found.missing
    if not _proven(chains, found.data):
        others = long_term.collect(key_chain, chain)
        added, reasons = others.data, others.missing
    known = long_term.authority_chain
    long_term.authority_chain = chain
    level = "B-LT" if _proven(chains, found.data) else "B-T"
    if not _proven(chains, found.data + added):
        return Augmented(sealed, sealed_hash, level, found.data, reasons)
    if not long_term.archive:
        return Augmented(sealed, sealed_hash, level, found.data) if level == "B-LT" or known == chain else None
    made, failures = archive(
        draft,
        sealed,
        sealed_hash,
        timestamping=timestamping.preferring(seal_timestamp.url),
        token_size=len(seal_timestamp.token),
        missing=added,
    )
    if made is None:
        lacking = f"No archive timestamp could be had. {' '.join(failures)}"
        return Augmented(sealed, sealed_hash, level, found.data, (*reasons, lacking))
    return Augmented(sealed + made.text, made.hash, "B-LTA", found.data + added, archive=made.timestamp)


def _proven(chains: Sequence[tuple[Chain, datetime]], data: LongTermData) -> bool:
    try:
        return all(data.proves(chain, moment) for chain, moment in chains)
    except Revoked:
        return False
