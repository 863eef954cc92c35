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
    if not hashes:
        return EMPTY
    if len(hashes) == 1:
        return hashes[0]
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
    path, start, end = [], 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append(tree_hash(middle, end, read))
            end = middle
        else:
            path.append(tree_hash(start, middle, read))
            start = middle
    return path[::-1]


def consistency_proof(old: int, size: int, read: Read) -> list[bytes]:
    """Return the proof that the tree of ``size`` extends that of the ``old`` size (RFC 6962 §2.1.2)."""
    if old in (0, size):
        return []
    path, start, end, whole = [], 0, size, True
    while end != old:
        middle = start + _split(end - start)
        if old <= middle:
            path.append(tree_hash(middle, end, read))
            end = middle
        else:
            path.append(tree_hash(start, middle, read))
            start, whole = middle, False
    return ([] if whole else [tree_hash(start, end, read)]) + path[::-1]


def check_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> None:
    """Raise ProofRefused unless the leaf with this hash is in the tree (RFC 9162 §2.1.3.2)."""
    if not 0 <= index < size:
        raise ProofRefused(f"Entry {index} lies outside the log, which has {size} entries.")
    node, last, found = index, size - 1, leaf
    for each in proof:
        if not last:
            raise ProofRefused("The inclusion proof is too long.")
        if node & 1 or node == last:
            found = node_hash(each, found)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            found = node_hash(found, each)
        node, last = node >> 1, last >> 1
    if last or found != root:
        raise ProofRefused("The inclusion proof does not lead to the root of the checkpoint.")


def check_consistency(old: int, old_root: bytes, size: int, root: bytes, proof: Sequence[bytes]) -> None:
    """Raise ProofRefused unless the tree of ``size`` extends that of the ``old`` size (RFC 9162 §2.1.4.2)."""
    refused = ProofRefused(f"The log of {size} entries does not extend that of {old}.")
    if old > size or (old == size and (old_root != root or proof)) or (old == 0 and (old_root != EMPTY or proof)):
        raise refused
    if old in (0, size):
        return
    steps = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not steps:
        raise refused
    node, last = old - 1, size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    before = after = steps[0]
    for each in steps[1:]:
        if not last:
            raise refused
        if node & 1 or node == last:
            before, after = node_hash(each, before), node_hash(each, after)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            after = node_hash(after, each)
        node, last = node >> 1, last >> 1
    if last or before != old_root or after != root:
        raise refused


class Growing:
    """A tree that grows. It holds, of each level of tiles, the hashes that are in no full tile yet."""

    def __init__(self, size: int = 0, read: Read = lambda _level, _first, _count: ()) -> None:
        """Go on from a tree of ``size``, whose hashes can be read."""
        self.size = size
        self._open: list[list[bytes]] = []
        while count := size // TILE ** len(self._open):
            begun = count % TILE
            self._open.append(list(read(len(self._open), count - begun, begun)) if begun else [])

    def add(self, leaf: bytes) -> list[tuple[int, int, bytes]]:
        """Add the hash of a leaf; return each tile that is full now, as the level and the index at which its root
        stands in the level above, and that root."""
        self.size += 1
        full: list[tuple[int, int, bytes]] = []
        value, level = leaf, 0
        while True:
            if level == len(self._open):
                self._open.append([])
            self._open[level].append(value)
            if len(self._open[level]) < TILE:
                return full
            value, self._open[level], level = root_of(self._open[level]), [], level + 1
            full.append((level, self.size // TILE**level - 1, value))

    def root(self) -> bytes:
        """Return the root of all that was added."""
        found: bytes | None = None
        for hashes in self._open:
            level = hashes if found is None else [*hashes, found]
            found = root_of(level) if level else found
        return EMPTY if found is None else found


def _split(size: int) -> int:
    """Return the largest power of two below ``size``."""
    return 1 << (size - 1).bit_length() - 1
