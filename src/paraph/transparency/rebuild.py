"""The log of the object store, taken over into tables that do not extend it: those of an older backup."""

from collections.abc import Iterator
from itertools import takewhile

from paraph.database.base import planned
from paraph.evidence.models import ProofFile
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.storage import store
from paraph.transparency import log
from paraph.transparency.merkle import TILE, ProofRefused, tree_hash
from paraph.transparency.models import Checkpoint, LogEntry, LogNode
from paraph.transparency.tiles import entries_key, read_bundle

_RETURNED = """
UPDATE evidence_prooffile AS proof SET log_index = entry.index FROM transparency_logentry AS entry
WHERE proof.log_index IS NULL AND entry.index >= %(first)s AND entry.sha256 = proof.sha256
"""


def rebuild() -> tuple[int, int]:
    """Make the tables have exactly the log that the store has, whose entries have to lead to its signed checkpoint;
    return how many entries were taken over, and how many other ones the tables had in their place. Proofs that are not
    in it are appended anew.

    Raise ``DomainError`` where the store has no log, its entries are not those of its checkpoint, or the log grows at
    the moment.
    """
    found = log.stored_checkpoint()
    if found is None:
        raise DomainError("configuration", "The object store has no transparency log.")
    text, checkpoint = found
    with log.alone() as mine:
        if not mine:
            raise DomainError("unavailable", "The log is being appended to at the moment. Try again.")
        ours = (entry for first in range(0, checkpoint.size, TILE) for entry in log.entries(first, TILE))
        theirs = (entry for _, bundle in _stored(checkpoint.size) for entry in bundle)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False)))
        dropped = _cut(same)
        for first, bundle in _stored(checkpoint.size, same // TILE):
            log.insert(max(first, same), bundle[max(0, same - first) :])
        if tree_hash(0, checkpoint.size, log.read) != checkpoint.root:
            raise DomainError("configuration", "The entries in the object store do not lead to its checkpoint.")
        planned(_RETURNED, {"first": same})
        Checkpoint.objects.get_or_create(size=checkpoint.size, defaults={"note": text, "published_at": clock.now()})
    return checkpoint.size - same, dropped


def _stored(size: int, tile: int = 0) -> Iterator[tuple[int, list[bytes]]]:
    for index in range(tile, -(-size // TILE)):
        try:
            yield index * TILE, read_bundle(store.get(entries_key(index)), min(TILE, size - index * TILE))
        except (FileNotFoundError, ProofRefused) as error:
            sentence = f"The object {entries_key(index)} of the transparency log is missing or cut off."
            raise DomainError("configuration", sentence) from error


def _cut(size: int) -> int:
    """Take everything beyond the first entries out of the tables; return how many entries that were."""
    dropped, _ = LogEntry.objects.filter(index__gte=size).delete()
    for level in range(1, 9):
        LogNode.objects.filter(level=level, index__gte=size // TILE**level).delete()
    Checkpoint.objects.filter(size__gt=size).delete()
    ProofFile.objects.filter(log_index__gte=size).update(log_index=None)
    return dropped
