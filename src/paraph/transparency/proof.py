"""Proofs that a file is in a log, which hold without asking the log (C2SP tlog-proof), and the policies that say which
logs and witnesses are enough (C2SP tlog-policy)."""

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from paraph.transparency.merkle import ProofRefused, check_inclusion, leaf_hash
from paraph.transparency.notes import (
    LOG,
    WITNESS,
    Checkpoint,
    Note,
    VerifierKey,
    opened_checkpoint,
    read_hashes,
    read_key,
    read_number,
    signatures_by,
)

FIRST_LINE = "c2sp.org/tlog-proof@v1"
_LONGEST = 128 * 1024


class Proof(NamedTuple):
    """``entry``: its index. ``checkpoint``: a note, whose signatures are not verified yet."""

    entry: int
    path: Sequence[bytes]
    checkpoint: str

    def __str__(self) -> str:
        hashes = [base64.b64encode(each).decode() for each in self.path]
        return "\n".join([FIRST_LINE, f"index {self.entry}", *hashes, "", self.checkpoint])


@dataclass
class Policy:
    """``groups``: how many of which members each one takes. ``quorum``: the witness or group that has to have cosigned;
    "" where none has to, None where nothing is said of it, which no checkpoint satisfies."""

    logs: list[VerifierKey] = field(default_factory=list)
    witnesses: dict[str, VerifierKey] = field(default_factory=dict)
    groups: dict[str, tuple[int, list[str]]] = field(default_factory=dict)
    quorum: str | None = None

    def check(self, note: Note) -> None:
        """Raise ProofRefused unless enough witnesses have cosigned."""
        cosigned = {name for name, key in self.witnesses.items() if signatures_by(note, key)}
        seen = ", ".join(sorted(cosigned)) or "no known witness"
        for name, (needed, members) in self.groups.items():
            if len(cosigned.intersection(members)) >= needed:
                cosigned.add(name)
        if self.quorum != "" and self.quorum not in cosigned:
            raise ProofRefused(f"The policy wants {self.quorum} to have cosigned the checkpoint; {seen} did.")

    def add(self, *line: str) -> None:
        """Add what a line of a policy file says. Raise ProofRefused."""
        match line:
            case ("log", text) | ("log", text, _):
                self.logs.append(_new(read_key(text, LOG), self.logs))
            case ("witness", name, text) | ("witness", name, text, _) if self._is_free(name):
                self.witnesses[name] = _new(read_key(text, WITNESS), self.witnesses.values())
            case ("group", name, many, _, *_) if self._is_free(name):
                self.groups[name] = self._needed(many, list(line[3:]))
            case ("quorum", name) if self.quorum is None and (name == "none" or not self._is_free(name)):
                self.quorum = "" if name == "none" else name
            case _:
                raise ProofRefused("a log, a witness or group by a new name, or the one quorum is expected.")

    def _is_free(self, name: str) -> bool:
        return name != "none" and name not in self.witnesses and name not in self.groups

    def _needed(self, many: str, members: list[str]) -> tuple[int, list[str]]:
        taken = [*members, *(each for _, others in self.groups.values() for each in others)]
        known = all(name != "none" and not self._is_free(name) and taken.count(name) == 1 for name in members)
        needed = {"any": 1, "all": len(members)}.get(many) or read_number(many, "The number of members")
        if not known or not 1 <= needed <= len(members):
            raise ProofRefused("a group needs some of its members, each defined before and in no other group.")
        return needed, members


def _new(key: VerifierKey, others: Iterable[VerifierKey]) -> VerifierKey:
    if any(key.public == other.public for other in others):
        raise ProofRefused(f"the key of {key.name} is there already.")
    return key


def of_log(key: VerifierKey) -> Policy:
    """Return the policy that takes this log's word alone."""
    return Policy([key], quorum="")


def read_policy(text: str) -> Policy:
    """Read a policy file. Raise ProofRefused, with the line that is wrong."""
    policy = Policy()
    for number, line in enumerate(text.split("\n"), 1):
        items = [item for item in line.replace("\t", " ").split(" ") if item]
        if items and not items[0].startswith("#"):
            try:
                policy.add(*items)
            except ProofRefused as refused:
                raise ProofRefused(f"Line {number} of the policy: {refused}") from refused
    if policy.quorum is None:
        raise ProofRefused("The policy has no line “quorum”.")
    return policy


def read_proof(text: str) -> Proof:
    """Read a proof. Raise ProofRefused."""
    head, found, checkpoint = text.partition("\n\n")
    first, *lines = head.split("\n")
    if first != FIRST_LINE or not found or len(text) > _LONGEST:
        raise ProofRefused(f"This is no proof of inclusion, which begins with {FIRST_LINE}.")
    if lines and lines[0].startswith("extra "):
        del lines[0]
    if not lines or not lines[0].startswith("index "):
        raise ProofRefused("The proof of inclusion must have an index.")
    return Proof(read_number(lines[0].removeprefix("index "), "The index"), read_hashes(lines[1:]), checkpoint)


def check_tlog_proof(text: str, sha256: bytes, policy: Policy) -> Checkpoint:
    """Return the checkpoint that the file of this digest is in. Raise ProofRefused with a sentence that says what does
    not hold."""
    proof = read_proof(text)
    note, checkpoint = opened_checkpoint(proof.checkpoint, policy.logs)
    check_inclusion(leaf_hash(sha256), proof.entry, checkpoint.size, proof.path, checkpoint.root)
    policy.check(note)
    return checkpoint
