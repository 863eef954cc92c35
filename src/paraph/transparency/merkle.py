"""Merkle trees as RFC 6962 §2.1 hashes them, their proofs, and the tiles that C2SP tlog-tiles cuts them into."""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

TILE = 256
"""The width of a full tile. The hash of a full tile is one hash of a tile at the level above."""
EMPTY = hashlib.sha256().digest()

Read = Callable[[int, int, int], Sequence[bytes]]
"""``read(level, first, count)`` returns ``count`` hashes of a level of tiles, from the one of index ``first`` on."""


class ProofRefused(ValueError):
    """A proof, a note or a log does not hold. The message is a sentence."""


def leaf_hash(entry: bytes) -> bytes:
    return hashlib.sha256(b"\0" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """Return the root of the tree with these hashes as its leaves."""
    if len(hashes) < 2:
        return hashes[0] if hashes else EMPTY
    half = _split(len(hashes))
    return node_hash(root_of(hashes[:half]), root_of(hashes[half:]))


def tree_hash(start: int, end: int, read: Read) -> bytes:
    """Return the hash of the subtree over ``entries[start:end]``. Each complete part is read from the highest level of
    tiles that has it in at most 256 hashes."""
    size = end - start
    if not size:
        return EMPTY
    if size & (size - 1) == 0 and start % size == 0:
        level = max(0, (size.bit_length() - 1) // 8)
        return root_of(read(level, start // TILE**level, size // TILE**level))
    middle = start + _split(size)
    return node_hash(tree_hash(start, middle, read), tree_hash(middle, end, read))


def inclusion_proof(index: int, size: int, read: Read) -> list[bytes]:
    """Return the audit path of an entry in the tree of this size, from its sibling up (RFC 6962 §2.1.1)."""
    return [tree_hash(start, end, read) for _, start, end in _way(index, size)]


def consistency_proof(old: int, size: int, read: Read) -> list[bytes]:
    """Return the proof that the tree of ``size`` extends that of the ``old`` size (RFC 6962 §2.1.2)."""
    way = _way(old - 1, size, last=True) if old else []
    begun = max((end for is_left, _, end in way if is_left), default=0)  # start of the part that the way starts from
    parts = [(begun, old)] if begun else []
    return [tree_hash(start, end, read) for start, end in [*parts, *(part for _, *part in way)]]


def check_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Raise ProofRefused unless the leaf with this hash is in the tree with this root."""
    if not 0 <= index < size:
        raise ProofRefused(f"Entry {index} lies outside the log, which has {size} entries.")
    sides = [is_left for is_left, _, _ in _way(index, size)]
    if len(proof) != len(sides) or _climbed(leaf, zip(sides, proof, strict=True)) != root:
        raise ProofRefused("The inclusion proof does not lead to the root of the checkpoint.")


def check_consistency(old: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]) -> None:
    """Raise ProofRefused unless the tree of ``size`` extends that of the ``old`` size."""
    if old == 0:
        holds = old_root == EMPTY and not proof
    else:
        sides = [is_left for is_left, _, _ in _way(old - 1, size, last=True)] if old <= size else []
        hashes = [*proof] if any(sides) else [old_root, *proof]  # the way may start at the old root itself
        steps = [*zip(sides, hashes[1:], strict=False)]
        holds = old <= size and len(hashes) == len(sides) + 1
        holds = holds and _climbed(hashes[0], steps) == root
        holds = holds and _climbed(hashes[0], (step for step in steps if step[0])) == old_root
    if not holds:
        raise ProofRefused(f"The log of {size} entries does not extend that of {old}.")


def _way(index: int, size: int, *, last: bool = False, start: int = 0) -> list[tuple[bool, int, int]]:
    """Return the siblings on the way from an entry up to the root: whether each is to the left, and its first entry and
    that after its last. ``last``: start from the largest part that ends with the entry."""
    if size == 1 or (last and index == size - 1):
        return []
    half = _split(size)
    middle, end = start + half, start + size
    if index < half:
        return [*_way(index, half, last=last, start=start), (False, middle, end)]
    return [*_way(index - half, size - half, last=last, start=middle), (True, start, middle)]


def _climbed(found: bytes, steps: Iterable[tuple[bool, bytes]]) -> bytes:
    """Return the hash that the siblings in ``steps`` lead to, each given with whether it is to the left."""
    for is_left, sibling in steps:
        found = node_hash(sibling, found) if is_left else node_hash(found, sibling)
    return found


def _split(size: int) -> int:
    """Return the largest power of two below ``size``."""
    return 1 << (size - 1).bit_length() - 1


_PATH = re.compile(r"(\d|[1-5]\d|6[0-3]|entries)/((?:x\d{3}/){0,6}\d{3})(?:\.p/([1-9]\d{0,2}))?", re.ASCII)
_ENTRY = (32).to_bytes(2, "big")


class Tile(NamedTuple):
    """``level`` is -1 for a bundle of entries. ``number`` counts the tiles of a level. ``width``: how many hashes or
    entries it has."""

    level: int
    number: int
    width: int = TILE

    def __str__(self) -> str:
        level = "entries" if self.level < 0 else str(self.level)
        return f"{level}/{number_path(self.number)}" + (f".p/{self.width}" if self.width < TILE else "")


def read_path(path: str) -> Tile | None:
    """Return the tile that a path below ``/tile/`` names; None where it names none, or not in its one form."""
    match = _PATH.fullmatch(path)
    if not match:
        return None
    level = -1 if match[1] == "entries" else int(match[1])
    tile = Tile(level, int(match[2].replace("/", "").replace("x", "")), int(match[3] or TILE))
    return tile if str(tile) == path else None


def number_path(number: int) -> str:
    path = f"{number % 1000:03}"
    while number := number // 1000:
        path = f"x{number % 1000:03}/{path}"
    return path


def entries_key(number: int) -> str:
    """Return where the object store has a bundle of entries; the last bundle of a log grows."""
    return f"transparency/entries/{number_path(number)}"


def bundle(entries: Sequence[bytes]) -> bytes:
    return b"".join(_ENTRY + each for each in entries)


def read_bundle(content: bytes, width: int) -> list[bytes]:
    """Return ``width`` entries from the beginning of a bundle. Raise ProofRefused where there are fewer."""
    parts = [content[at : at + 34] for at in range(0, 34 * width, 34)]
    if any(part[:2] != _ENTRY or len(part) != 34 for part in parts):
        raise ProofRefused("A bundle of entries has too few of them, or of another length than 32 bytes.")
    return [part[2:] for part in parts]
