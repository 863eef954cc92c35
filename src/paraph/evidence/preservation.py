"""Timestamps beside sealed files, which never change: when one is needed, and the rows of those that exist."""

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import transaction

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
_LATE = timedelta(hours=1)
KINDS = (SealedDocument, ProofFile)


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


@contextmanager
def claimed(kind: type[SealedFile]) -> Iterator[SealedFile | None]:
    """Give the file of the kind that has needed a timestamp longest, and that no other process has at hand, for as long
    as the block runs, which is a transaction; None where there is none."""
    with transaction.atomic():
        due = kind.objects.filter(timestamp_due_at__lte=clock.now()).order_by("timestamp_due_at")
        yield due.select_for_update(skip_locked=True, no_key=True).first()


def overdue() -> tuple[int, float]:
    """Return how many sealed files, up to 40,000, have needed a timestamp for an hour or more, whether or not it was
    tried to get one, and for how many seconds the first of them has."""
    now, files = clock.now(), 0
    first = now
    for kind in KINDS:
        untried = kind.objects.filter(timestamp_late_since=None)
        for rows, since in ((untried, "timestamp_due_at"), (kind.objects.all(), "timestamp_late_since")):
            late = rows.filter(**{f"{since}__lte": now - _LATE}).order_by(since).values_list(since, flat=True)
            files += late[:10_000].count()
            first = min(first, late.first() or now)
    return files, (now - first).total_seconds()


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


def keep(file: SealedFile, earlier: Sequence[DetachedTimestamp], record: DetachedTimestamp, stamp: Timestamp) -> None:
    """Store a timestamp over the claimed file and its ``earlier`` ones."""
    KeptTimestamp.objects.create(
        object_key=file.object_key,
        position=len(earlier) + 1,
        token=record.token,
        statuses={name: items for name, items in record.to_json().items() if name != "token"},
        stamped_at=stamp.time,
        authority=stamp.authority,
    )
    _schedule(file, renewal_of(stamp), late_since=None)


def postpone(file: SealedFile) -> None:
    """Schedule another try for the claimed file, after no authority answered."""
    _schedule(file, clock.now() + _AFTER_FAILURE, late_since=file.timestamp_late_since or file.timestamp_due_at)


def _schedule(file: SealedFile, moment: datetime, late_since: datetime | None) -> None:
    type(file).objects.filter(pk=file.pk).update(timestamp_due_at=moment, timestamp_late_since=late_since)
