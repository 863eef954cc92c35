"""Timestamps beside sealed files, which never change: when one is needed, and the rows of those that exist."""

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

SealedFile = SealedDocument | ProofFile

_LEAD_TIME = timedelta(days=90)
_AFTER_FAILURE = timedelta(minutes=15)
_AT_ONCE = 500


def first_due(sealed: SealedPdf, wanted: Level) -> datetime | None:
    """Return when a fresh seal needs a timestamp beside it: at once if it is below the level of the settings, else
    before its newest timestamp ages; None where the settings want no timestamps."""
    newest = sealed.archive or sealed.timestamp
    if wanted == "B-B":
        return None
    return clock.now() if newest is None or sealed.level != wanted else renewal_of(newest)


def renewal_of(stamp: Timestamp) -> datetime:
    """Return when to renew a timestamp: 90 days before the first certificate of its chain ends, or after three quarters
    of the time left if that is less than 360 days."""
    ends = min(load(link).parsed.not_valid_after_utc for link in stamp.chain)
    left = max(ends - clock.now(), timedelta(0))
    return ends - min(_LEAD_TIME, left / 4)


def due() -> Iterator[SealedFile]:
    """Yield sealed files that need a timestamp now, those due longest first, at most 500 of each kind."""
    for model in (SealedDocument, ProofFile):
        yield from model.objects.filter(timestamp_due_at__lte=clock.now()).order_by("timestamp_due_at")[:_AT_ONCE]


def overdue() -> int:
    """Return how many sealed files have waited for their timestamp for an hour or more."""
    enough = timedelta(hours=1) // _AFTER_FAILURE
    return sum(model.objects.filter(timestamp_attempts__gte=enough).count() for model in (SealedDocument, ProofFile))


def records_of(object_key: str) -> list[DetachedTimestamp]:
    """Return the timestamps beside a file, oldest first."""
    rows = KeptTimestamp.objects.filter(object_key=object_key).order_by("position")
    encoded = ((bytes(row.token), row.statuses) for row in rows)
    return [
        DetachedTimestamp(token, detached_timestamp_from_json({"token": "", **statuses}).statuses)
        for token, statuses in encoded
    ]


def key_chain(file: SealedFile) -> list[tuple[bytes, ...]]:
    """Return the chain (DER) of the key that sealed the file, in a list; empty for rows of earlier versions without
    it."""
    links = file.seal.get("certificates", {}).get("seal", ())
    return [tuple(base64.b64decode(link) for link in links)] if links else []


def keep(file: SealedFile, earlier: Sequence[DetachedTimestamp], record: DetachedTimestamp, stamp: Timestamp) -> bool:
    """Store a timestamp over the file and its ``earlier`` ones. Return False where another process was first."""
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
            _schedule(file, renewal_of(stamp), attempts=0)
    except IntegrityError:
        return False
    return True


def postpone(file: SealedFile) -> None:
    """Schedule another try, after no authority answered."""
    _schedule(file, clock.now() + _AFTER_FAILURE, attempts=file.timestamp_attempts + 1)


def _schedule(file: SealedFile, moment: datetime, attempts: int) -> None:
    type(file).objects.filter(pk=file.pk).update(timestamp_due_at=moment, timestamp_attempts=attempts)
