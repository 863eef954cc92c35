"""Another installation's log, read whole and judged: whether its entries lead to the root that it signed."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from paraph.transparency.merkle import TILE, Growing, ProofRefused, leaf_hash
from paraph.transparency.notes import LOG, LONGEST_NOTE, Checkpoint, VerifierKey, opened_checkpoint, read_key
from paraph.transparency.proof import FIRST_LINE, Policy, of_log, read_proof
from paraph.transparency.tiles import Tile, read_bundle

_SECONDS = 30.0
Fetch = Callable[[str, int], bytes]
"""Returns what lies at a path below the log's address, at most so many bytes. Raises ProofRefused."""


@dataclass(frozen=True)
class Audit:
    """``checkpoint``: the newest, as its ``note`` says it. ``found``: the entry that each of the digests is, of those
    that are in the log."""

    checkpoint: Checkpoint
    note: str
    found: Mapping[bytes, int] = field(default_factory=dict)


@contextmanager
def fetching(url: str) -> Iterator[Fetch]:
    """Give what fetches from the log at an address, ``https://HOST/transparency``, over one connection."""
    with httpx.Client(timeout=_SECONDS, headers={"Accept-Encoding": "identity"}) as client:

        def fetch(path: str, most: int) -> bytes:
            content = b""
            try:
                with client.stream("GET", f"{url.rstrip('/')}/{path}") as answer:
                    if answer.status_code != 200:
                        raise ProofRefused(f"{path} cannot be had: HTTP status {answer.status_code}.")
                    for block in answer.iter_bytes():
                        content += block
                        if len(content) > most:
                            raise ProofRefused(f"{path} is larger than {most} bytes.")
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise ProofRefused(f"{path} cannot be had: {error}.") from error
            return content

        yield fetch


def offered_key(fetch: Fetch) -> VerifierKey:
    """Return the key that the log says is its own. Raise ProofRefused."""
    return read_key(_text(fetch("key", 1024), "key"), LOG)


def audit(
    fetch: Fetch,
    key: VerifierKey,
    *,
    policy: Policy | None = None,
    earlier: str = "",
    digests: frozenset[bytes] = frozenset(),
) -> Audit:
    """Read the whole log: its entries, hashed, have to be its tiles and to lead to the root of its checkpoint, and on
    their way to that of an ``earlier`` one, which may be that of a proof of inclusion.

    ``digests``: of files that are looked for. Raise ProofRefused with the sentence of what does not hold.
    """
    trusted = policy if policy and policy.logs else of_log(key)
    text = _text(fetch("checkpoint", LONGEST_NOTE), "checkpoint")
    note, checkpoint = opened_checkpoint(text, trusted.logs)
    if policy:
        policy.check(note)
    if earlier.startswith(FIRST_LINE):
        earlier = read_proof(earlier).checkpoint
    before = opened_checkpoint(earlier, trusted.logs)[1] if earlier else None
    if before and (before.size > checkpoint.size or before.origin != checkpoint.origin):
        raise ProofRefused(
            f"The log was forked or cut: it has {checkpoint.size} entries now, and {before.size} in an earlier "
            f"checkpoint of {before.origin}."
        )
    return Audit(checkpoint, text, _read_whole(fetch, checkpoint, before, digests))


def _read_whole(
    fetch: Fetch, checkpoint: Checkpoint, before: Checkpoint | None, digests: frozenset[bytes]
) -> dict[bytes, int]:
    growing, found, levels = Growing(), dict[bytes, int](), list[list[bytes]]()
    _compare(before, growing)
    for first in range(0, checkpoint.size, TILE):
        width = min(TILE, checkpoint.size - first)
        bundle = Tile(-1, first // TILE, width)
        entries = read_bundle(fetch(f"tile/{bundle}", 34 * TILE), width)
        leaves = [leaf_hash(entry) for entry in entries]
        _require_tile(fetch, bundle._replace(level=0), leaves)
        for entry, leaf in zip(entries, leaves, strict=True):
            if entry in digests:
                found.setdefault(entry, growing.size)
            for level, _, value in growing.add(leaf):
                levels += [[] for _ in range(level - len(levels))]
                levels[level - 1].append(value)
            _compare(before, growing)
    for level, hashes in enumerate(levels, 1):
        for first in range(0, len(hashes), TILE):
            part = hashes[first : first + TILE]
            _require_tile(fetch, Tile(level, first // TILE, len(part)), part)
    if growing.root() != checkpoint.root:
        raise ProofRefused(f"The {checkpoint.size} entries do not lead to the root that the log signed.")
    return found


def _compare(before: Checkpoint | None, growing: Growing) -> None:
    if before and before.size == growing.size and before.root != growing.root():
        raise ProofRefused(f"The log was forked: its first {before.size} entries are not those of the earlier one.")


def _require_tile(fetch: Fetch, tile: Tile, hashes: list[bytes]) -> None:
    if fetch(f"tile/{tile}", 32 * TILE) != b"".join(hashes):
        raise ProofRefused(f"The tile {tile} is not what the entries lead to.")


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ProofRefused(f"{name} is no text in UTF-8.") from error
