"""Merkle trees as RFC 6962 §2.1 hashes them, their proofs, and the tiles that C2SP tlog-tiles cuts them into."""

import hashlib
from collections.abc import Callable, Sequence

TILE = 256
"""The width of a full tile. The hash of a full tile is one hash of a tile at the level above."""
EMPTY = hashlib.sha256().digest()

Read = Callable[[int, int, int], Sequence[bytes]]
"""``read(level, first, count)`` returns so many hashes of a level of tiles, from the one of index ``first`` on."""


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


def inclusion_proof(index: int, size: int, read: Read, start: int = 0) -> list[bytes]:
    """Return the audit path of an entry, from its sibling up (RFC 6962 §2.1.1), in the tree of this size, whose first
    entry is that at ``start`` of the log; ``index`` counts from there."""
    if size == 1:
        return []
    half = _split(size)
    middle, end = start + half, start + size
    if index < half:
        return [*inclusion_proof(index, half, read, start), tree_hash(middle, end, read)]
    return [*inclusion_proof(index - half, size - half, read, middle), tree_hash(start, middle, read)]


def consistency_proof(old: int, size: int, read: Read, start: int = 0) -> list[bytes]:
    """Return the proof that the tree of ``size`` extends that of the ``old`` size (RFC 6962 §2.1.2), both of which
    begin at ``start`` of the log."""
    if old in (0, size):
        return [tree_hash(start, start + size, read)] if start else []
    half = _split(size)
    middle, end = start + half, start + size
    if old <= half:
        return [*consistency_proof(old, half, read, start), tree_hash(middle, end, read)]
    return [*consistency_proof(old - half, size - half, read, middle), tree_hash(start, middle, read)]


def check_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Raise ProofRefused unless the leaf with this hash is in the tree with this root."""
    if not 0 <= index < size:
        raise ProofRefused(f"Entry {index} lies outside the log, which has {size} entries.")
    if _root_by(leaf, index, size, proof) != root:
        raise ProofRefused("The inclusion proof does not lead to the root of the checkpoint.")


def _root_by(leaf: bytes, index: int, size: int, proof: Sequence[bytes]) -> bytes | None:
    """Return the root that a proof of inclusion leads to; None where it is too long or too short."""
    if size == 1 or not proof:
        return None if proof or size > 1 else leaf
    *below, sibling = proof
    half = _split(size)
    if index < half:
        found = _root_by(leaf, index, half, below)
        return found and node_hash(found, sibling)
    found = _root_by(leaf, index - half, size - half, below)
    return found and node_hash(sibling, found)


def check_consistency(old: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]) -> None:
    """Raise ProofRefused unless the tree of ``size`` extends that of the ``old`` size."""
    if old == 0:
        holds = old_root == EMPTY and not proof
    else:
        holds = old <= size and _roots_by(old, size, proof, old_root) == (old_root, root)
    if not holds:
        raise ProofRefused(f"The log of {size} entries does not extend that of {old}.")


def _roots_by(old: int, size: int, proof: Sequence[bytes], whole: bytes | None) -> tuple[bytes, bytes] | None:
    """Return the roots of the old tree and of the new one that a proof of consistency leads to; None where it is too
    long or too short. ``whole``: the hash of the old tree as far as the proof leaves it out, as all of it is one
    complete part."""
    if old == size:
        found = [*proof] if whole is None else [whole, *proof]
        return (found[0], found[0]) if len(found) == 1 else None
    if not proof:
        return None
    *below, sibling = proof
    half = _split(size)
    if old <= half:
        roots = _roots_by(old, half, below, whole)
        return roots and (roots[0], node_hash(roots[1], sibling))
    roots = _roots_by(old - half, size - half, below, None)
    return roots and (node_hash(sibling, roots[0]), node_hash(sibling, roots[1]))


def _split(size: int) -> int:
    """Return the largest power of two below ``size``."""
    return 1 << (size - 1).bit_length() - 1
