"""Timestamps whose certificates have ended since, and whether a later one preserved them in time."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from paraph.kernel import clock
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestampsCheck
from paraph.pdf.verification.signature_check import SignatureCheck


def expired_timestamps(checks: Sequence[SignatureCheck], kept: DetachedTimestampsCheck) -> list[str]:
    """A sentence for each timestamp that aged and that nothing preserved. ``checks`` are in the order of the file."""
    now = clock.now()
    return [_sentence(name) for name, ends, later in _timestamps(checks, kept) if ends < now and not _any(later, ends)]


def _timestamps(
    checks: Sequence[SignatureCheck], kept: DetachedTimestampsCheck
) -> Iterator[tuple[str, datetime, list[datetime]]]:
    """The authority of each trusted timestamp, when its certificate ends, and the times proven by those after it."""
    for place, check in enumerate(checks):
        if check.timestamp and check.authority_ends:
            archives = [other.timestamp for other in checks[place + 1 :] if other.archives]
            later = [stamp.time for stamp in archives if stamp]
            yield check.timestamp.authority, check.authority_ends, [*later, *kept.times]
    for place, (stamp, ends) in enumerate(zip(kept.timestamps, kept.ends, strict=True)):
        yield stamp.authority, ends, (kept.times[place + 1 :])


def _any(later: Sequence[datetime], ends: datetime) -> bool:
    return any(moment <= ends for moment in later)


def _sentence(authority: str) -> str:
    return (
        f'The certificate of the timestamp authority "{authority}" has expired since; '
        "an archive timestamp before that would have preserved the proof."
    )
