"""Timestamps whose authority's certificate has expired, and whether a later timestamp preserved them in time."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from paraph.kernel import clock
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestampsCheck
from paraph.pdf.verification.signature_check import SignatureCheck


def expired_timestamps(checks: Sequence[SignatureCheck], detached: DetachedTimestampsCheck) -> list[str]:
    """Return a sentence for each timestamp that expired unpreserved. ``checks``: in the order of the file."""
    now = clock.now()
    return [
        _sentence(authority)
        for authority, end, later in _timestamps(checks, detached)
        if end < now and not any(time <= end for time in later)
    ]


def _timestamps(
    checks: Sequence[SignatureCheck], detached: DetachedTimestampsCheck
) -> Iterator[tuple[str, datetime, list[datetime]]]:
    """Yield for each trusted timestamp its authority, the end of its certificates, and the times of later ones."""
    for position, check in enumerate(checks, start=1):
        if check.timestamp and check.authority_ends:
            archives = [other.timestamp for other in checks[position:] if other.archives]
            later = [timestamp.time for timestamp in archives if timestamp]
            yield check.timestamp.authority, check.authority_ends, [*later, *detached.times]
    for position, (timestamp, end) in enumerate(zip(detached.timestamps, detached.ends, strict=True), start=1):
        yield timestamp.authority, end, detached.times[position:]


def _sentence(authority: str) -> str:
    return (
        f'The certificate of the timestamp authority "{authority}" has expired since; '
        "an archive timestamp before that would have preserved the proof."
    )
