"""Another installation's log, read whole and judged: whether its entries lead to the root that it signed; and where a
log has proofs, as a part of the verdict on them."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import httpx

from paraph.outbound.url import check_url
from paraph.pdf.asic import PROOF
from paraph.pdf.report import EvidenceCheck, Inclusion
from paraph.pdf.verdict import Fault
from paraph.transparency.merkle import TILE, ProofRefused, Tile, leaf_hash, read_bundle, root_of, tree_hash
from paraph.transparency.notes import (
    FIRST_LINE,
    LOG,
    LONGEST_NOTE,
    Checkpoint,
    Policy,
    VerifierKey,
    check_tlog_proof,
    of_log,
    opened_checkpoint,
    read_key,
    read_proof,
)

_SECONDS, _MOST_ENTRIES = 30.0, 100_000_000
Fetch = Callable[[str, int], bytes]
"""A function that returns what lies at a path below the log's address, up to so many bytes, or raises ProofRefused."""


@contextmanager
def fetching(url: str) -> Iterator[Fetch]:
    """Yield a function that fetches from the log at an address, ``https://HOST/transparency``, over one connection.
    Each answer has to be complete within 30 s, however slowly the log sends it. Raise
    ``DomainError("validation_error", …)`` where the address is not valid."""
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
    """Read the whole log: the hashes of its entries must match its tiles and lead to the root of its checkpoint, and,
    on the way, to that of an ``earlier`` one, which may be that of a proof of inclusion.

    ``trusted``: whose log it is, and who has to have cosigned; ``digests``: those of the files to look for. Return the
    newest checkpoint, and the index of the entry of each of these files that is in the log. Raise ProofRefused with a
    sentence that says what does not hold.
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


class Places(NamedTuple):
    """What is asked. ``url``: that of the log that has to have the proofs now, read whole; "" to ask no log.
    ``policy``: the logs and witnesses to believe; None for whatever key the log at ``url`` offers. ``inclusion``: the
    proof of inclusion, None where none is given."""

    url: str = ""
    policy: Policy | None = None
    inclusion: str | None = None

    @property
    def asked(self) -> bool:
        return bool(self.url or self.policy)

    def of(self, digests: Mapping[str, bytes]) -> dict[str, str | Fault]:
        """Return, for each file, given by name and SHA-256, a sentence where the log has the file and extends the
        checkpoint of the proof of inclusion, or else a fault."""
        policy, origin, entries = self.policy, "", dict[bytes, int]()
        try:
            if self.url:
                with fetching(self.url) as fetch:
                    policy = policy or of_log(offered_key(fetch))
                    newest, entries = audit(fetch, policy, self.inclusion or "", digests.values())
                    origin = newest.origin
        except ProofRefused as refused:
            return dict.fromkeys(digests, Fault("GENERIC", f"Whether {self.url} contains it cannot be told: {refused}"))
        told = dict[str, str | Fault]()
        for name, digest in digests.items():
            try:
                if self.url and digest not in entries:
                    raise ProofRefused("It has no such entry.")
                if self.inclusion is not None:
                    origin = check_tlog_proof(self.inclusion, digest, policy or Policy()).origin
                elif not self.url:
                    raise ProofRefused("There is no proof of inclusion.")
                entry = entries[digest] if self.url else read_proof(self.inclusion or "").entry
                told[name] = f"{name} is entry {entry} of the log {origin}."
            except ProofRefused as refused:
                sentence = f"That {origin or 'a log'} has {name} does not hold: {refused}"
                told[name] = Fault("SIG_CONSTRAINTS_FAILURE", sentence)
        return told

    def note_bundle(self, check: EvidenceCheck, inclusion: Inclusion) -> list[str]:
        """Note what a bundle's own proof of inclusion adds to its check; return what :meth:`note` does."""
        return self._replace(inclusion=inclusion.text).note(check, {PROOF: inclusion.proof_sha256})

    def note(self, check: EvidenceCheck, digests: Mapping[str, bytes]) -> list[str]:
        """Note where the log has the proofs; return the sentences about those that it has."""
        found = self.of(digests).values()
        if not found:
            check.fault("No proof was given, so the log was asked for none.", "GENERIC")
        held = [each for each in found if isinstance(each, str)]
        check.matches += held
        check.faults += [each for each in found if isinstance(each, Fault)]
        return held
