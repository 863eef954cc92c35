"""The journal in the evidence: whole, and the one that the proof prints."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from paraph.pdf.verification.evidence_result import EvidenceCheck


def check_journal(result: EvidenceCheck, journal: Sequence[Mapping[str, Any]], printed: str) -> None:
    """Notes whether each entry carries the hash of the one before it, and the proof prints the last hash.

    The hash of an entry is the SHA-256 of its JSON without ``hash``, keys sorted, no spaces. ``printed``: the text of
    the proof without white space.
    """
    broken = _first_broken(journal)
    result.note(
        bool(journal) and broken is None,
        f"The journal's {len(journal)} entries follow from each other.",
        f"The journal is broken at entry {broken or 1}.",
    )
    result.note(
        bool(journal) and journal[-1]["hash"] in printed,
        "The proof prints the journal's last hash.",
        "The proof does not print the journal's last hash.",
    )


def _first_broken(journal: Sequence[Mapping[str, Any]]) -> int | None:
    """Returns the position of the first entry that does not follow from the one before it."""
    previous = "00" * 32
    for position, entry in enumerate(journal, start=1):
        facts = {key: value for key, value in entry.items() if key != "hash"}
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        computed = hashlib.sha256(text.encode()).hexdigest()
        if facts["position"] != position or facts["previous_hash"] != previous or computed != entry["hash"]:
            return position
        previous = entry["hash"]
    return None
