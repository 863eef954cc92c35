"""The transparency log: an append-only Merkle tree over the digests of all production proofs, as C2SP has it."""
