"""Another installation's log, read whole and judged: whether its entries lead to the root that it signed."""

import asyncio
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

import httpx

from paraph.outbound.url import check_url
from paraph.transparency.merkle import TILE, ProofRefused, leaf_hash, root_of, tree_hash
from paraph.transparency.notes import LOG, LONGEST_NOTE, Checkpoint, VerifierKey, opened_checkpoint, read_key
from paraph.transparency.proof import FIRST_LINE, Policy, read_proof
from paraph.transparency.tiles import Tile, read_bundle

_SECONDS, _MOST_ENTRIES = 30.0, 100_000_000
Fetch = Callable[[str, int], bytes]
"""Returns what lies at a path below the log's address, at most so many bytes. Raises ProofRefused."""


@contextmanager
def fetching(url: str) -> Iterator[Fetch]:
    """Give what fetches from the log at an address, ``https://HOST/transparency``, over one connection. Each answer has
    to be complete within 30 s, however slowly the log sends it. Raise ``DomainError("validation_error", …)`` where the
    address is none."""
    base = str(check_url(url.rstrip("/"), name="The address of the log"))
    client = httpx.AsyncClient(timeout=_SECONDS, headers={"Accept-Encoding": "identity"})

    async def answer(path: str, most: int) -> tuple[int, bytes]:
        async with asyncio.timeout(_SECONDS), client.stream("GET", f"{base}/{path}") as found:
            # Raw: unpacked, a few bytes can be gigabytes.
            return found.status_code, await anext(found.aiter_raw(most + 1), b"")

    def fetch(path: str, most: int) -> bytes:
        try:
            status, content = loop.run(answer(path, most))
        except (TimeoutError, httpx.HTTPError, UnicodeError) as error:  # the last for a name that no host can have
            cause = str(error) or f"no complete answer within {_SECONDS:g} s"
            raise ProofRefused(f"{path} cannot be had: {cause}.") from error
        if status != 200 or len(content) > most:
            raise ProofRefused(f"{path} cannot be had: HTTP status {status}, {len(content)} bytes or more.")
        return content

    with asyncio.Runner() as loop:
        try:
            yield fetch
        finally:
            loop.run(client.aclose())


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
    if checkpoint.size > _MOST_ENTRIES:
        raise ProofRefused(f"The log has {checkpoint.size} entries. At most {_MOST_ENTRIES} are read.")
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
