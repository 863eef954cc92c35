"""The chain of hashes of an activity log: read without the service, its database or Django."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

GENESIS = bytes(32)


@dataclass(frozen=True)
class ChainCheck:
    """``acts`` are those that follow from each other, ``head`` the hash of the last of them. ``problem`` is "" where
    the whole chain holds."""

    organization_id: int | None
    acts: int
    head: str
    problem: str = ""

    @property
    def ok(self) -> bool:
        return not self.problem

    def to_json(self) -> dict[str, Any]:
        return {"valid": self.ok, **asdict(self)}


def act_hash(facts: dict[str, Any]) -> bytes:
    """Return the SHA-256 of the facts as canonical JSON: keys sorted, no white space, UTF-8."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()


def check_acts(acts: Iterable[dict[str, Any]], organization_id: int) -> ChainCheck:
    """Check acts as exports have them: that each follows from the one before, the first from nothing."""
    count, previous = 0, GENESIS.hex()
    for act in acts:
        expected = count + 1
        if not isinstance(act, dict) or act.get("position") != expected:
            problem = f"Act {expected} is missing or stands elsewhere."
        elif act.get("organization_id") != organization_id:
            problem = f"Act {expected} belongs to another organization."
        elif act.get("previous_hash") != previous:
            problem = f"Act {expected} does not follow from the one before."
        elif act_hash({name: value for name, value in act.items() if name != "hash"}).hex() != act.get("hash"):
            problem = f"Act {expected} was altered."
        else:
            count, previous = expected, act["hash"]
            continue
        return ChainCheck(organization_id, count, previous, problem)
    return ChainCheck(organization_id, count, previous)
