"""The journal in the evidence: whole, and the one that the proof prints."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from paraph.pdf.verification.evidence_result import EvidenceCheck


def check_journal(result: EvidenceCheck, journal: Sequence[Mapping[str, Any]], printed: str) -> None:
    """Note whether each entry carries the hash of the one before it, and the proof prints the last hash.

    The hash of an entry is the SHA-256 of its JSON without ``hash``, keys sorted, no spaces; where it has ``salts``,
    without these, and with the commitment of each value that has a salt in its place. ``printed``: the text of the
    proof without white space.
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
    """Return the position of the first entry that does not follow from the one before it."""
    previous = "00" * 32
    for position, entry in enumerate(journal, start=1):
        facts = _hashed(entry)
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        computed = hashlib.sha256(text.encode()).hexdigest()
        if facts["position"] != position or facts["previous_hash"] != previous or computed != entry["hash"]:
            return position
        previous = entry["hash"]
    return None


def _hashed(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the hash of the entry covers. A commitment is the SHA-256 of the salt followed by the value."""
    facts: dict[str, Any] = json.loads(json.dumps({key: entry[key] for key in entry if key not in ("hash", "salts")}))
    for path, salt in entry.get("salts", {}).items():
        *way, last = path.split("/")
        holder: Any = facts
        for step in way:
            holder = holder[step]
        place = int(last) if isinstance(holder, list) else last
        holder[place] = hashlib.sha256(bytes.fromhex(salt) + holder[place].encode()).hexdigest()
    return facts
