"""When a sealed file, which never changes, needs a timestamp beside it, and the rows of those that it has."""

import base64
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from paraph.evidence.models import KeptTimestamp, ProofFile, SealedDocument
from paraph.kernel import clock
from paraph.pdf.pki.certificate import load
from paraph.pdf.report import Level
from paraph.pdf.sealing.seal import SealedPdf
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp, detached_timestamp_from_json
from paraph.pdf.timestamps.timestamp import Timestamp

Kept = SealedDocument | ProofFile

_LEAD = timedelta(days=90)
_AFTER_FAILURE = timedelta(minutes=15)
_AT_ONCE = 500


def first_due(sealed: SealedPdf, wanted: Level) -> datetime | None:
    """At once for a file below the level of the settings, before its newest timestamp ages for others; never where no
    timestamps are wanted."""
    newest = sealed.archive or sealed.timestamp
    if wanted == "B-B":
        return None
    return clock.now() if newest is None or sealed.level != wanted else renewal_of(newest)


def renewal_of(stamp: Timestamp) -> datetime:
    """90 days before the first certificate of its chain ends; for a short one, three quarters through what is left."""
    ends = min(load(link).parsed.not_valid_after_utc for link in stamp.chain)
    left = max(ends - clock.now(), timedelta(0))
    return ends - min(_LEAD, left / 4)


def due() -> Iterator[Kept]:
    """Sealed files that need a timestamp now, the longest waiting first; of very many, some."""
    for model in (SealedDocument, ProofFile):
        yield from model.objects.filter(timestamp_due_at__lte=clock.now()).order_by("timestamp_due_at")[:_AT_ONCE]


def overdue() -> int:
    """How many sealed files could not be given their timestamp for an hour or more."""
    enough = timedelta(hours=1) // _AFTER_FAILURE
    return sum(model.objects.filter(timestamp_attempts__gte=enough).count() for model in (SealedDocument, ProofFile))


def records_of(object_key: str) -> list[DetachedTimestamp]:
    """The timestamps beside a file, in their order."""
    rows = KeptTimestamp.objects.filter(object_key=object_key).order_by("position")
    encoded = ((bytes(row.token), row.statuses) for row in rows)
    return [
        DetachedTimestamp(token, detached_timestamp_from_json({"token": "", **statuses}).statuses)
        for token, statuses in encoded
    ]


def key_chain(file: Kept) -> list[tuple[bytes, ...]]:
    """The chain (DER) of the key that sealed the file; none where its row, of an earlier version, does not hold it."""
    links = file.seal.get("certificates", {}).get("seal", ())
    return [tuple(base64.b64decode(link) for link in links)] if links else []


def keep(file: Kept, earlier: Sequence[DetachedTimestamp], record: DetachedTimestamp, stamp: Timestamp) -> bool:
    """Adds a timestamp over the file and ``earlier``. False where somebody else was quicker."""
    try:
        with transaction.atomic():
            KeptTimestamp.objects.create(
                object_key=file.object_key,
                position=len(earlier) + 1,
                token=record.token,
                statuses={name: items for name, items in record.to_json().items() if name != "token"},
                stamped_at=stamp.time,
                authority=stamp.authority,
            )
            _next(file, renewal_of(stamp), attempts=0)
    except IntegrityError:
        return False
    return True


def postpone(file: Kept) -> None:
    """No authority answered: again in a while."""
    _next(file, clock.now() + _AFTER_FAILURE, attempts=file.timestamp_attempts + 1)


def _next(file: Kept, moment: datetime, attempts: int) -> None:
    type(file).objects.filter(pk=file.pk).update(timestamp_due_at=moment, timestamp_attempts=attempts)
