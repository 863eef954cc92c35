"""The chain of hashes of an activity log: read without the service, its database or Django."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

GENESIS = bytes(32)


@dataclass(frozen=True)
class ChainCheck:
    """``entries`` are those that follow from each other, ``head`` the hash of the last of them. ``problem`` is "" where
    the whole chain holds."""

    organization_id: int | None
    entries: int
    head: str
    problem: str = ""

    @property
    def ok(self) -> bool:
        return not self.problem

    def to_json(self) -> dict[str, Any]:
        return {"valid": self.ok, **asdict(self)}


def entry_hash(facts: dict[str, Any]) -> bytes:
    """Return the SHA-256 of the facts as canonical JSON: keys sorted, no white space, UTF-8."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def check_entries(entries: Iterable[dict[str, Any]], organization_id: int) -> ChainCheck:
    """Check entries as exports have them: that each follows from the one before, the first from nothing."""
    count, previous = 0, GENESIS.hex()
    for entry in entries:
        expected = count + 1
        if not isinstance(entry, dict) or entry.get("position") != expected:
            problem = f"Entry {expected} is missing or stands elsewhere."
        elif entry.get("organization_id") != organization_id:
            problem = f"Entry {expected} belongs to another organization."
        elif entry.get("previous_hash") != previous:
            problem = f"Entry {expected} does not follow from the one before."
        elif entry_hash({name: value for name, value in entry.items() if name != "hash"}).hex() != entry.get("hash"):
            problem = f"Entry {expected} was altered."
        else:
            count, previous = expected, entry["hash"]
            continue
        return ChainCheck(organization_id, count, previous, problem)
    return ChainCheck(organization_id, count, previous)
