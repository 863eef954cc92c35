"""Signed notes, verifier keys, checkpoints and cosignatures (C2SP signed-note, tlog-checkpoint, tlog-cosignature), with
Ed25519; proofs that a file is in a log, which hold without asking the log (tlog-proof), and policies, which say which
logs and witnesses are enough (tlog-policy)."""

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from paraph.transparency.merkle import ProofRefused, check_inclusion, leaf_hash

LOG, WITNESS = 1, 4
"""Types of keys: one signs notes, the other cosigns checkpoints that somebody else signed."""
_KEY = re.compile(r"([^\s+\ud800-\udfff]+)\+([0-9a-f]{8})\+(\S+)")
_SIGNATURE = re.compile(r"\u2014 ([^\s+]+) (\S+)")
_NUMBER = re.compile("0|[1-9][0-9]{0,17}")  # which the columns of the database can hold
_MOST_SIGNATURES, _MOST_HASHES, LONGEST_NOTE = 64, 63, 64 * 1024


class VerifierKey(NamedTuple):
    """A name and a public key of :data:`LOG` or :data:`WITNESS`; as text ``name+id+base64``."""

    name: str
    kind: int
    public: bytes

    @property
    def id(self) -> bytes:
        return hashlib.sha256(f"{self.name}\n".encode() + bytes([self.kind]) + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(bytes([self.kind]) + self.public).decode()}"


class Signature(NamedTuple):
    name: str
    id: bytes
    content: bytes

    def __str__(self) -> str:
        return f"\u2014 {self.name} {base64.b64encode(self.id + self.content).decode()}\n"


class Note(NamedTuple):
    """``text`` ends in a line break; it proves nothing before a signature over it has been verified."""

    text: str
    signatures: tuple[Signature, ...]

    def __str__(self) -> str:
        return "\n".join([self.text, "".join(map(str, self.signatures))])


class Checkpoint(NamedTuple):
    origin: str
    size: int
    root: bytes

    def __str__(self) -> str:
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def read_key(text: str, kind: int) -> VerifierKey:
    """Read a verifier key of this kind. Raise ProofRefused."""
    match = _KEY.fullmatch(text.strip())
    key = VerifierKey(match[1], kind, unbase64(match[3])[1:]) if match else None
    if key is None or str(key) != text.strip() or len(key.public) != 32:
        wanted = "a log" if kind == LOG else "a witness"
        raise ProofRefused(f"{text.strip()[:200]!r} is no verifier key of {wanted} with Ed25519, NAME+ID+KEY.")
    return key


def read_note(text: str) -> Note:
    """Read a note, none of whose signatures is verified yet. Raise ProofRefused."""
    if len(text) > LONGEST_NOTE or any(each < " " and each != "\n" for each in text):
        raise ProofRefused("The note is too long or has control characters.")
    body, found, tail = text.rpartition("\n\n")
    lines = [_SIGNATURE.fullmatch(line) for line in tail.removesuffix("\n").split("\n")]
    signatures = [(match[1], unbase64(match[2])) for match in lines if match]
    good = body and found and tail.endswith("\n") and len(signatures) == len(lines) <= _MOST_SIGNATURES
    if not good or any(len(content) < 5 for _, content in signatures):
        raise ProofRefused("This is no signed note: a text, an empty line, and lines of signatures.")
    return Note(body + "\n", tuple(Signature(name, content[:4], content[4:]) for name, content in signatures))


def signatures_by(note: Note, key: VerifierKey) -> list[Signature]:
    """Return the signatures of a log's key, or the cosignatures of a witness, that a note has. Raise ProofRefused where
    one is wrong, as whoever made the note has no part in it then."""
    found = [each for each in note.signatures if (each.name, each.id) == (key.name, key.id)]
    for each in found:
        signature, message = each.content, note.text.encode()
        if key.kind == WITNESS:
            signature, message = signature[8:], _cosigned(note.text, int.from_bytes(signature[:8], "big"))
        try:
            Ed25519PublicKey.from_public_bytes(key.public).verify(signature, message)
        except InvalidSignature as error:
            raise ProofRefused(f"The signature of {key.name} is wrong.") from error
    return found


def sign(text: str, key: VerifierKey, private: Ed25519PrivateKey) -> Signature:
    return Signature(key.name, key.id, private.sign(text.encode()))


def cosign(text: str, key: VerifierKey, private: Ed25519PrivateKey, moment: int) -> Signature:
    """Cosign a checkpoint as of ``moment``, POSIX seconds."""
    return Signature(key.name, key.id, moment.to_bytes(8, "big") + private.sign(_cosigned(text, moment)))


def _cosigned(text: str, moment: int) -> bytes:
    return f"cosignature/v1\ntime {moment}\n{text}".encode()


def read_checkpoint(note: Note) -> Checkpoint:
    """Read the text of a note as a checkpoint. Raise ProofRefused."""
    origin, *rest = note.text.removesuffix("\n").split("\n")
    root = unbase64(rest[1]) if len(rest) > 1 else b""
    if not origin or not all(rest) or len(root) != 32:
        raise ProofRefused("This is no checkpoint: origin, size and root hash, a line each.")
    return Checkpoint(origin, read_number(rest[0], "The size of the checkpoint"), root)


def opened_checkpoint(text: str, logs: Sequence[VerifierKey]) -> tuple[Note, Checkpoint]:
    """Read a checkpoint, and verify that the log that it names as its origin signed it. Raise ProofRefused."""
    note = read_note(text)
    checkpoint = read_checkpoint(note)
    known = [key for key in logs if key.name == checkpoint.origin]
    if not known:
        raise ProofRefused(f"The checkpoint is of the log {checkpoint.origin}, whose key is not known.")
    if not any(signatures_by(note, key) for key in known):
        raise ProofRefused(f"The checkpoint is not signed by the key of {checkpoint.origin}.")
    return note, checkpoint


def read_hashes(lines: Sequence[str]) -> list[bytes]:
    """Read the hashes of a proof, a line each. Raise ProofRefused."""
    hashes = [unbase64(line) for line in lines]
    if len(hashes) > _MOST_HASHES or {*map(len, hashes)} - {32}:
        raise ProofRefused(f"A proof must have at most {_MOST_HASHES} hashes of 32 bytes, a line each.")
    return hashes


def read_number(text: str, name: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ProofRefused(f"{name} must be a whole number below 10^18 without leading zeros, not {text[:40]!r}.")
    return int(text)


def unbase64(text: str) -> bytes:
    """Return what the text encodes; b"" where it is not the one right base64 of anything."""
    with suppress(binascii.Error, ValueError):
        content = base64.b64decode(text, validate=True)
        return content if base64.b64encode(content).decode() == text else b""
    return b""


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
    """``groups``: how many members each group needs, and which they are. ``quorum``: the witness or group that has to
    have cosigned; "" where none has to, None where no quorum is stated, which no checkpoint satisfies."""

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
    """Return the policy that trusts this log alone and asks for no witness."""
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
