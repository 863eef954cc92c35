"""Another installation's log, read whole and judged: whether its entries lead to the root that it signed."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

import httpx

from paraph.transparency.merkle import TILE, ProofRefused, leaf_hash, root_of, tree_hash
from paraph.transparency.notes import LOG, LONGEST_NOTE, Checkpoint, VerifierKey, opened_checkpoint, read_key
from paraph.transparency.proof import FIRST_LINE, Policy, read_proof
from paraph.transparency.tiles import Tile, read_bundle

_SECONDS = 30.0
Fetch = Callable[[str, int], bytes]
"""Returns what lies at a path below the log's address, at most so many bytes. Raises ProofRefused."""


@contextmanager
def fetching(url: str) -> Iterator[Fetch]:
    """Give what fetches from the log at an address, ``https://HOST/transparency``, over one connection."""
    with httpx.Client(timeout=_SECONDS, headers={"Accept-Encoding": "identity"}) as client:

        def fetch(path: str, most: int) -> bytes:
            try:
                with client.stream("GET", f"{url.rstrip('/')}/{path}") as answer:
                    content = next(answer.iter_bytes(most + 1), b"")
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise ProofRefused(f"{path} cannot be had: {error}.") from error
            if answer.status_code != 200 or len(content) > most:
                raise ProofRefused(f"{path} cannot be had: HTTP status {answer.status_code}, {len(content)} bytes.")
            return content

        yield fetch


def offered_key(fetch: Fetch) -> VerifierKey:
    """Return the key that the log says is its own. Raise ProofRefused."""
    return read_key(fetch("key", 1024).decode(errors="replace"), LOG)


def audit(
    fetch: Fetch, trusted: Policy, earlier: str = "", digests: Collection[bytes] = ()
) -> tuple[Checkpoint, dict[bytes, int]]:
    """Read the whole log: its entries, hashed, have to be its tiles and to lead to the root of its checkpoint, and on
    their way to that of an ``earlier`` one, which may be that of a proof of inclusion.

    ``trusted``: whose log it is, and who has to have cosigned; ``digests``: of files that are looked for. Return the
    newest checkpoint, and the entry that each of these files is, of those that are in the log. Raise ProofRefused with
    the sentence of what does not hold.
    """
    newest = fetch("checkpoint", LONGEST_NOTE).decode(errors="replace")
    note, checkpoint = opened_checkpoint(newest, trusted.logs)
    trusted.check(note)
    if earlier.startswith(FIRST_LINE):
        earlier = read_proof(earlier).checkpoint
    same_log = [key for key in trusted.logs if key.name == checkpoint.origin]
    before = opened_checkpoint(earlier, same_log)[1] if earlier else checkpoint
    if before.size > checkpoint.size:
        raise ProofRefused(f"The log was forked or cut: it had {before.size} entries, and has {checkpoint.size} now.")
    return checkpoint, _read_whole(fetch, checkpoint, before, digests)


def _read_whole(
    fetch: Fetch, checkpoint: Checkpoint, before: Checkpoint, digests: Collection[bytes]
) -> dict[bytes, int]:
    found, full = dict[bytes, int](), list[bytes]()
    ends = {size // TILE: list[bytes]() for size in (before.size, checkpoint.size)}  # leaves of tiles that are not full

    def read(level: int, first: int, count: int) -> list[bytes]:
        if not level:
            return ends[first // TILE][first % TILE :][:count]
        width = TILE ** (level - 1)
        return [root_of(full[at * width : (at + 1) * width]) for at in range(first, first + count)]

    for number in range(-(-checkpoint.size // TILE)):
        bundle = Tile(-1, number, min(TILE, checkpoint.size - number * TILE))
        entries = read_bundle(fetch(f"tile/{bundle}", 34 * TILE), bundle.width)
        leaves = [leaf_hash(entry) for entry in entries]
        _require_tile(fetch, bundle._replace(level=0), leaves)
        found = {entry: at for at, entry in enumerate(entries, number * TILE) if entry in digests} | found
        if number in ends:
            ends[number] = leaves
        if bundle.width == TILE:
            full.append(root_of(leaves))
    for level in range(1, 9):
        for first in range(0, checkpoint.size // TILE**level, TILE):
            tile = Tile(level, first // TILE, min(TILE, checkpoint.size // TILE**level - first))
            _require_tile(fetch, tile, read(level, first, tile.width))
    if tree_hash(0, before.size, read) != before.root and before != checkpoint:
        raise ProofRefused(f"The log was forked: its first {before.size} entries are not those of the earlier one.")
    if tree_hash(0, checkpoint.size, read) != checkpoint.root:
        raise ProofRefused(f"The {checkpoint.size} entries do not lead to the root that the log signed.")
    return found


def _require_tile(fetch: Fetch, tile: Tile, hashes: list[bytes]) -> None:
    if fetch(f"tile/{tile}", 32 * TILE) != b"".join(hashes):
        raise ProofRefused(f"The tile {tile} is not what the entries lead to.")
