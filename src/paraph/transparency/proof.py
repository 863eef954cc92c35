"""Proofs that a file is in a log, which hold without asking the log (C2SP tlog-proof), and the policies that say which
logs and witnesses are enough (C2SP tlog-policy)."""

import base64
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paraph.transparency.merkle import ProofRefused, check_inclusion, leaf_hash
from paraph.transparency.notes import (
    LOG,
    WITNESS,
    Checkpoint,
    Note,
    VerifierKey,
    cosigned_at,
    opened_checkpoint,
    read_key,
    read_number,
    unbase64,
)

FIRST_LINE = "c2sp.org/tlog-proof@v1"
_MOST_HASHES, _LONGEST = 63, 128 * 1024


class Proof(NamedTuple):
    """``checkpoint``: a note, whose signatures are not verified yet."""

    index: int
    path: Sequence[bytes]
    checkpoint: str

    def __str__(self) -> str:
        hashes = [base64.b64encode(each).decode() for each in self.path]
        return "\n".join([FIRST_LINE, f"index {self.index}", *hashes, "", self.checkpoint])


class Policy(NamedTuple):
    """``quorum``: the witness or group that has to have cosigned, "" where none has to. ``groups``: how many of which
    members each one takes."""

    logs: tuple[VerifierKey, ...]
    witnesses: dict[str, VerifierKey]
    groups: dict[str, tuple[int, tuple[str, ...]]]
    quorum: str

    def check(self, note: Note) -> None:
        """Raise ProofRefused unless enough witnesses have cosigned."""
        cosigned = {name for name, key in self.witnesses.items() if cosigned_at(note, key) is not None}
        for name, (needed, members) in self.groups.items():
            if len(cosigned.intersection(members)) >= needed:
                cosigned.add(name)
        if self.quorum and self.quorum not in cosigned:
            seen = ", ".join(sorted(cosigned & self.witnesses.keys())) or "no known witness"
            raise ProofRefused(f"The policy wants {self.quorum} to have cosigned the checkpoint; {seen} did.")


def read_proof(text: str) -> Proof:
    """Read a proof. Raise ProofRefused."""
    head, found, checkpoint = text.partition("\n\n")
    first, *lines = head.split("\n")
    if first != FIRST_LINE or not found or len(text) > _LONGEST:
        raise ProofRefused(f"This is no proof of inclusion, which begins with {FIRST_LINE}.")
    if lines and lines[0].startswith("extra "):
        del lines[0]
    path = [unbase64(line) for line in lines[1:]]
    if not lines or not lines[0].startswith("index ") or len(path) > _MOST_HASHES or {*map(len, path)} - {32}:
        raise ProofRefused("The proof of inclusion must have an index and at most 63 hashes, a line each.")
    return Proof(read_number(lines[0].removeprefix("index "), "The index"), path, checkpoint)


def check_tlog_proof(text: str, sha256: bytes, policy: Policy) -> Checkpoint:
    """Return the checkpoint that the file of this digest is in. Raise ProofRefused with a sentence that says what does
    not hold."""
    proof = read_proof(text)
    note, checkpoint = opened_checkpoint(proof.checkpoint, policy.logs)
    check_inclusion(leaf_hash(sha256), proof.index, checkpoint.size, proof.path, checkpoint.root)
    policy.check(note)
    return checkpoint


def of_log(key: VerifierKey) -> Policy:
    """Return the policy that takes this log's word alone."""
    return Policy((key,), {}, {}, "")


def read_policy(text: str) -> Policy:
    """Read a policy file. Raise ProofRefused, with the line that is wrong."""
    found = _PolicyFile()
    for number, line in enumerate(text.split("\n"), 1):
        items = line.replace("\t", " ").strip(" ").split()
        if items and not items[0].startswith("#"):
            try:
                found.add(*items)
            except ProofRefused as refused:
                raise ProofRefused(f"Line {number} of the policy: {refused}") from refused
    if found.quorum is None:
        raise ProofRefused("The policy has no line “quorum”.")
    return Policy(tuple(found.logs), found.witnesses, found.groups, found.quorum)


class _PolicyFile:
    def __init__(self) -> None:
        self.logs: list[VerifierKey] = []
        self.witnesses: dict[str, VerifierKey] = {}
        self.groups: dict[str, tuple[int, tuple[str, ...]]] = {}
        self.quorum: str | None = None

    def add(self, *line: str) -> None:
        match line:
            case ("log", text) | ("log", text, _):
                self.logs.append(self._new(read_key(text, LOG), self.logs))
            case ("witness", name, text) | ("witness", name, text, _):
                key = self._new(read_key(text, WITNESS), self.witnesses.values())
                self.witnesses[self._free(name)] = key
            case ("group", name, many, _, *_):
                self.groups[self._free(name)] = self._needed(many, line[3:])
            case ("quorum", name) if self.quorum is None:
                self.quorum = "" if name == "none" else self._defined(name)
            case _:
                raise ProofRefused("a log, a witness, a group or the one quorum is expected.")

    def _new(self, key: VerifierKey, others: Iterable[VerifierKey]) -> VerifierKey:
        if any(key.public == other.public for other in others):
            raise ProofRefused(f"the key of {key.name} is there already.")
        return key

    def _free(self, name: str) -> str:
        if name == "none" or name in self.witnesses or name in self.groups:
            raise ProofRefused(f"the name {name} is taken.")
        return name

    def _defined(self, name: str) -> str:
        if name not in self.witnesses and name not in self.groups:
            raise ProofRefused(f"{name} is not defined before.")
        return name

    def _needed(self, many: str, names: Sequence[str]) -> tuple[int, tuple[str, ...]]:
        members = [self._defined(name) for name in names]
        listed = [*members, *(each for _, others in self.groups.values() for each in others)]
        if any(listed.count(name) > 1 for name in members):
            raise ProofRefused("a name is a member twice.")
        needed = {"any": 1, "all": len(members)}.get(many) or read_number(many, "The number of members")
        if not 1 <= needed <= len(members):
            raise ProofRefused(f"a group of {len(members)} cannot want {needed}.")
        return needed, tuple(members)
