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
PUBLISHED = {
    "": "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "00": "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "10": "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "2021": "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "3031": "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "40414243": "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "5051525354555657": "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "606162636465666768696a6b6c6d6e6f": "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}
"""The tree of Certificate Transparency's own tests: each entry, and the root once that entry is appended."""


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


def test_the_roots_are_those_of_certificate_transparency() -> None:
    leaves: list[bytes] = []
    assert root_of(leaves) == tree_hash(0, 0, READ) == EMPTY
    for entry, root in PUBLISHED.items():
        leaves.append(leaf_hash(bytes.fromhex(entry)))
        assert tree_hash(0, len(leaves), tiles_of(leaves)).hex() == root_of(leaves).hex() == root


def test_roots_and_proofs_are_those_of_an_independent_implementation() -> None:
    roots = {int(size): base64.b64decode(root) for size, root in VECTORS["roots"].items()}
    for size, root in roots.items():
        assert tree_hash(0, size, READ) == root
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
