"""Timestamps beside sealed files, which never change: when one is needed, and the rows of those that exist."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from paraph.database.kept_once import kept_once
from paraph.evidence.models import KeptTimestamp, ProofFile, SealedDocument, SharedContent
from paraph.evidence.shared_content import as_bytes, as_text
from paraph.kernel import clock
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.report import Level
from paraph.pdf.sealing.seal import SealedPdf
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp
from paraph.pdf.timestamps.timestamp import Timestamp

SealedFile = SealedDocument | ProofFile

_AFTER_FAILURE = timedelta(minutes=15)
_AT_ONCE = 500


def first_due(sealed: SealedPdf, wanted: Level) -> datetime | None:
    """Return when a fresh seal needs a timestamp beside it: at once if it is below the level of the settings, else
    before its newest timestamp ages; None where the settings want no timestamps."""
    newest = sealed.archive or sealed.timestamp
    if wanted == "B-B":
        return None
    return clock.now() if newest is None or sealed.level != wanted else newest.renewal_at


def due() -> Iterator[SealedFile]:
    """Yield sealed files that need a timestamp now, those due longest first, at most 500 of each kind."""
    for model in (SealedDocument, ProofFile):
        rows = model.objects.filter(timestamp_due_at__lte=clock.now()).select_related("shared")
        yield from rows.order_by("timestamp_due_at")[:_AT_ONCE]


def overdue() -> int:
    """Return how many sealed files have waited for their timestamp for an hour or more."""
    enough = timedelta(hours=1) // _AFTER_FAILURE
    return sum(model.objects.filter(timestamp_attempts__gte=enough).count() for model in (SealedDocument, ProofFile))


def records_of(object_key: str) -> list[DetachedTimestamp]:
    """Return the timestamps beside a file, oldest first."""
    rows = KeptTimestamp.objects.filter(object_key=object_key).select_related("shared").order_by("position")
    return [DetachedTimestamp(bytes(row.token), LongTermData(**as_bytes(row.shared.content))) for row in rows]


def key_chain(file: SealedFile) -> list[tuple[bytes, ...]]:
    """Return the chain (DER) of the key that sealed the file, in a list."""
    return [as_bytes(file.shared.content["certificates"])["seal"]]


def keep(file: SealedFile, earlier: Sequence[DetachedTimestamp], record: DetachedTimestamp, stamp: Timestamp) -> bool:
    """Store a timestamp over the file and its ``earlier`` ones. Return False where another process was first."""
    try:
        with transaction.atomic():
            KeptTimestamp.objects.create(
                object_key=file.object_key,
                position=len(earlier) + 1,
                token=record.token,
                shared_id=kept_once(SharedContent, as_text(vars(record.statuses))),
            )
            _schedule(file, stamp.renewal_at, attempts=0)
    except IntegrityError:
        return False
    return True


def postpone(file: SealedFile) -> None:
    """Schedule another try, after no authority answered."""
    _schedule(file, clock.now() + _AFTER_FAILURE, attempts=file.timestamp_attempts + 1)


def _schedule(file: SealedFile, moment: datetime, attempts: int) -> None:
    type(file).objects.filter(pk=file.pk).update(timestamp_due_at=moment, timestamp_attempts=attempts)
