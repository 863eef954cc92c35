"""The log grows: proofs become entries, and a checkpoint over them is stored, shown to witnesses, and published.

A published checkpoint is never contradicted. It is committed with its entries, then lies in the object store, and only
then is published; after a crash, the next process goes on from there. Where the tables are older than what lies in the
store, as after the restore of a backup, nothing is appended before :func:`rebuild` takes over the log of the store.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import takewhile

from django.db import connection, transaction

from paraph.database.base import planned
from paraph.evidence.models import ProofFile
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.storage import store
from paraph.transparency import notes
from paraph.transparency.merkle import (
    TILE,
    ProofRefused,
    bundle,
    entries_key,
    inclusion_proof,
    leaf_hash,
    read_bundle,
    root_of,
    tree_hash,
)
from paraph.transparency.models import Checkpoint, LogEntry, LogNode
from paraph.transparency.notes import Proof
from paraph.transparency.witnesses import own_key, witnessed

_AT_ONCE, _IN_A_STATEMENT, _SECONDS = 5_000, 1_000, 20.0
_STORED = "transparency/checkpoint"
_STAMPED_EVERY = timedelta(hours=1)
_LOCK = "SELECT pg_try_advisory_xact_lock(hashtext('transparency log'))"


def log_proofs() -> None:
    """Append the production proofs that are not in the log yet, publish a checkpoint over them, and ask the witnesses
    that have not cosigned the newest one. Safe to repeat, to be killed, and to run several times at once. Raise
    ``DomainError("configuration", …)`` where the tables do not extend the log that the store has."""
    end = time.monotonic() + _SECONDS
    own_key()  # made at the first start, so that witnesses and auditors can be told of it
    _publish()
    while time.monotonic() < end and _append():
        _publish()


def read(level: int, first: int, count: int) -> Sequence[bytes]:
    """Read hashes of a level of tiles (:data:`paraph.transparency.merkle.Read`)."""
    if level:
        rows = LogNode.objects.filter(level=level, index__gte=first, index__lt=first + count).order_by("index")
        return [bytes(each) for each in rows.values_list("hash", flat=True)]
    return [leaf_hash(each) for each in entries(first, count)]


def entries(first: int, count: int) -> list[bytes]:
    rows = LogEntry.objects.filter(index__gte=first, index__lt=first + count).order_by("index")
    return [bytes(each) for each in rows.values_list("sha256", flat=True)]


def newest() -> Checkpoint | None:
    """Return the newest checkpoint, the only one that may not be published yet."""
    return Checkpoint.objects.order_by("-size").first()


def published() -> Checkpoint | None:
    """Return the newest published checkpoint."""
    return Checkpoint.objects.filter(published_at__isnull=False).order_by("-size").first()


def inclusion_proof_of(proof: ProofFile) -> str | None:
    """Return the proof (C2SP tlog-proof) that the log has the proof file, by the first published checkpoint with it;
    None before there is one, and for the sandbox."""
    if proof.log_index is None or proof.log_index < 0:
        return None
    containing = Checkpoint.objects.filter(published_at__isnull=False, size__gt=proof.log_index)
    found = containing.order_by("size").first()
    if found is None:
        return None
    return str(Proof(proof.log_index, inclusion_proof(proof.log_index, found.size, read), found.note))


def stored_checkpoint() -> tuple[str, notes.Checkpoint] | None:
    """Return the checkpoint that the store has, None where it has none. Raise ``DomainError("configuration", …)`` where
    it is not one of this log."""
    try:
        text = store.get(_STORED).decode()
        return text, notes.opened_checkpoint(text, [own_key().log])[1]
    except FileNotFoundError:
        return None
    except (ProofRefused, ValueError) as refused:
        sentence = f"The object store has the transparency log of another installation or key. {refused}"
        raise DomainError("configuration", sentence) from refused


def require_extends_store() -> bool:
    """Return whether the store has a checkpoint. Raise ``DomainError("configuration", …)`` unless the tables extend
    it."""
    found = stored_checkpoint()
    if found is None:
        return False
    size, root = found[1].size, found[1].root
    last = newest()
    if last is None or last.size < size or tree_hash(0, size, read) != root:
        raise DomainError(
            "configuration",
            f"The object store has a transparency log of {size} entries, which the database does not extend: it is "
            "older, such as from a restored backup. paraph log rebuild takes over what it lacks.",
        )
    return True


def _append() -> bool:
    with alone() as mine:
        last = newest()
        waiting = ProofFile.objects.filter(log_index=None).order_by("pk").only("sha256")[:_AT_ONCE]
        if not mine or (last and not last.published_at) or not waiting:
            return False
        require_extends_store()
        size, own = last.size if last else 0, own_key()
        for index, proof in enumerate(waiting, size):
            proof.log_index = index
        ProofFile.objects.bulk_update(waiting, ["log_index"], batch_size=_IN_A_STATEMENT)
        insert(size, [bytes(proof.sha256) for proof in waiting])
        size += len(waiting)
        text = str(notes.Checkpoint(own.log.name, size, tree_hash(0, size, read)))
        Checkpoint.objects.create(size=size, note=str(notes.Note(text, (notes.sign(text, own.log, own.private),))))
        return True


def insert(size: int, digests: Sequence[bytes]) -> None:
    """Insert entries after the first ``size`` ones, and the roots of the tiles that are full now."""
    LogEntry.objects.bulk_create([LogEntry(index=size + at, sha256=digest) for at, digest in enumerate(digests)])
    for level in range(1, 9):
        full = range(size // TILE**level, (size + len(digests)) // TILE**level)
        rows = [LogNode(level=level, index=index, hash=root_of(read(level - 1, index * TILE, TILE))) for index in full]
        LogNode.objects.bulk_create(rows)


def _publish() -> None:
    """Store the newest checkpoint with its entries, ask the witnesses that have not cosigned it, and publish it."""
    with alone() as mine:
        row = newest()
        if row is None or not mine:
            return
        before = 0
        if not row.published_at:
            is_stored, last = require_extends_store(), published()
            before = last.size if last and is_stored else 0  # a store without a log gets all of it
            for number in range(before // TILE, -(-row.size // TILE)):
                store.put(entries_key(number), bundle(entries(number * TILE, min(TILE, row.size - number * TILE))))
            store.put(_STORED, row.note.encode())
    note = witnessed(row.note, before, read)
    if note != row.note or not row.published_at:
        changed = {"note": note, "published_at": row.published_at or clock.now()}
        Checkpoint.objects.filter(pk=row.pk, note=row.note).update(**changed)


def stamped() -> Checkpoint | None:
    """Return the newest checkpoint that has a timestamp."""
    return Checkpoint.objects.filter(token__isnull=False).order_by("-size").first()


def unstamped() -> Checkpoint | None:
    """Return the newest published checkpoint where a timestamp over it is due; None where it has one, or another
    checkpoint of the last hour does."""
    row, last = published(), stamped()
    recent = last is not None and last.created_at > clock.now() - _STAMPED_EVERY
    return None if row is None or row.token is not None or recent else row


def without_witnesses(row: Checkpoint) -> bytes:
    """Return the checkpoint as the log alone signed it, which a timestamp covers: cosignatures may come later."""
    note = notes.read_note(row.note)
    return str(note._replace(signatures=note.signatures[:1])).encode()


@contextmanager
def alone() -> Iterator[bool]:
    """Yield whether no other process is changing the log, within a transaction."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_LOCK)
        yield bool(cursor.fetchone()[0])


_RETURNED = """
UPDATE evidence_prooffile AS proof SET log_index = entry.index FROM transparency_logentry AS entry
WHERE proof.log_index IS NULL AND entry.index >= %(first)s AND entry.sha256 = proof.sha256
"""


def rebuild() -> tuple[int, int]:
    """Make the tables hold exactly the log that the store has, whose entries have to lead to its signed checkpoint;
    return how many entries were taken over, and how many others the tables had in their place. Proofs that are not in
    that log are appended anew.

    Raise ``DomainError`` where the store has no log, its entries are not those of its checkpoint, or the log is being
    appended to.
    """
    found = stored_checkpoint()
    if found is None:
        raise DomainError("configuration", "The object store has no transparency log.")
    text, checkpoint = found
    with alone() as mine:
        if not mine:
            raise DomainError("unavailable", "The log is being appended to at the moment. Try again.")
        ours = (entry for first in range(0, checkpoint.size, TILE) for entry in entries(first, TILE))
        theirs = (entry for _, bundle in _stored(checkpoint.size) for entry in bundle)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False)))
        dropped = _cut(same)
        for first, bundle in _stored(checkpoint.size, same // TILE):
            insert(max(first, same), bundle[max(0, same - first) :])
        if tree_hash(0, checkpoint.size, read) != checkpoint.root:
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
