"""Trees and proofs are those of RFC 6962 and of an independent implementation; an altered proof is refused."""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from paraph.transparency.merkle import (
    EMPTY,
    TILE,
    ProofRefused,
    check_consistency,
    check_inclusion,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    root_of,
    tree_hash,
)

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text())
"""Answers of aics-tlog 0.2.1 (PyPI), which shares no code with us; entry n is the SHA-256 of ``proof n``. They are kept
because it needs a newer Python than the service."""
ENTRIES = [hashlib.sha256(b"proof %d" % number).digest() for number in range(1000)]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]


def unpacked(hashes: Sequence[str]) -> list[bytes]:
    return [base64.b64decode(each) for each in hashes]


def tiles_of(leaves: Sequence[bytes]) -> Callable[[int, int, int], list[bytes]]:
    levels = [list(leaves)]
    while len(levels[-1]) >= TILE:
        below = levels[-1]
        levels.append([root_of(below[at : at + TILE]) for at in range(0, len(below) - TILE + 1, TILE)])

    def read(level: int, first: int, count: int) -> list[bytes]:
        assert count <= TILE
        found = levels[level][first : first + count]
        assert len(found) == count
        return found

    return read


READ = tiles_of(LEAVES)


def test_roots_and_proofs_are_those_of_an_independent_implementation() -> None:
    roots = {int(size): base64.b64decode(root) for size, root in VECTORS["roots"].items()}
    for size, root in {0: EMPTY, **roots}.items():
        assert tree_hash(0, size, READ) == root_of(LEAVES[:size]) == root
    for index, size, proof in VECTORS["inclusion"]:
        assert inclusion_proof(index, size, READ) == unpacked(proof)
        check_inclusion(LEAVES[index], index, size, unpacked(proof), roots[size])
    for old, size, proof in VECTORS["consistency"]:
        assert consistency_proof(old, size, READ) == unpacked(proof)
        check_consistency(old, roots[old], size, roots[size], unpacked(proof))


def test_a_tree_of_many_tiles_is_read_from_its_highest_levels() -> None:
    leaves = [leaf_hash(b"%d" % number) for number in range(TILE * TILE + 300)]
    read, size = tiles_of(leaves), len(leaves)
    root = tree_hash(0, size, read)
    assert root == root_of(leaves)
    for begun in (1, 255, 256, 300, TILE * TILE - 1, TILE * TILE):
        old = tree_hash(0, begun, read)
        assert old == root_of(leaves[:begun])
        check_consistency(begun, old, size, root, consistency_proof(begun, size, read))
    for index in (0, TILE * TILE - 1, size - 1):
        check_inclusion(leaves[index], index, size, inclusion_proof(index, size, read), root)


def test_a_proof_of_inclusion_reads_few_hashes() -> None:
    """The log has ten million entries; each hash is read from the highest level that has it."""
    read_hashes = 0

    def read(_level: int, _first: int, count: int) -> list[bytes]:
        nonlocal read_hashes
        read_hashes += count
        return [EMPTY] * count

    inclusion_proof(4_567_890, 10_000_000, read)
    assert read_hashes < 1500


@pytest.mark.parametrize("place", range(4))
def test_an_altered_proof_of_inclusion_is_refused(place: int) -> None:
    index, size = 301, 511
    proof, root = inclusion_proof(index, size, READ), tree_hash(0, size, READ)
    turned = [*proof]
    turned[place] = bytes([turned[place][0] ^ 1]) + turned[place][1:]
    for leaf, at, of, path, head in (
        (LEAVES[index], index, size, turned, root),
        (LEAVES[index], index, size, proof[:-1], root),
        (LEAVES[index], index, size, [*proof, EMPTY], root),
        (LEAVES[index], index, size, proof[1:], root),
        (LEAVES[index], index, size, [], root),
        (LEAVES[index], index, size, proof[::-1], root),
        (LEAVES[index], index, size, [proof[1], proof[0], *proof[2:]], root),
        (LEAVES[index], index, size, inclusion_proof(index - 1, size, READ), root),
        (LEAVES[index], index, size, inclusion_proof(index, size - 1, READ), root),
        (LEAVES[index], index + 1, size, proof, root),
        (LEAVES[index], index, size + 1000, proof, root),
        (LEAVES[index + 1], index, size, proof, root),
        (LEAVES[index], index, size, proof, EMPTY),
        (LEAVES[index], size, size, proof, root),
        (LEAVES[index], -1, size, proof, root),
    ):
        with pytest.raises(ProofRefused):
            check_inclusion(leaf, at, of, path, head)


def test_an_altered_proof_of_consistency_is_refused() -> None:
    sizes = (1, 2, 3, 8, 255, 256, 300, 511, 512, 1000)
    roots = {size: tree_hash(0, size, READ) for size in sizes}
    for old in sizes:
        for size in (each for each in sizes if each >= old):
            proof = consistency_proof(old, size, READ)
            altered = [[*proof, EMPTY], *([*proof[:at], EMPTY, *proof[at + 1 :]] for at in range(len(proof)))]
            altered += [proof[:-1], proof[1:]] if proof else []
            for path in altered:
                with pytest.raises(ProofRefused):
                    check_consistency(old, roots[old], size, roots[size], path)
            for before, after in ((EMPTY, roots[size]), (roots[old], EMPTY)):
                with pytest.raises(ProofRefused):
                    check_consistency(old, before, size, after, proof)
            if old < size:
                with pytest.raises(ProofRefused):
                    check_consistency(size, roots[size], old, roots[old], proof)
    check_consistency(0, EMPTY, 5, tree_hash(0, 5, READ), [])
    with pytest.raises(ProofRefused):
        check_consistency(0, EMPTY, 5, tree_hash(0, 5, READ), [EMPTY])
