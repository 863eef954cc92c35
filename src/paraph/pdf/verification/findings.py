"""The findings of verification as plain sentences."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from paraph.kernel import clock
from paraph.pdf.report import Level, SignatureReport
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestampsCheck
from paraph.pdf.verification.signature_check import SignatureCheck

_LEVELS: dict[Level, str] = {
    "": "The seal does not follow PAdES.",
    "B-B": "Level B-B: no trusted timestamp proves when the seal was made.",
    "B-T": "Level B-T: a trusted timestamp proves when the seal existed.",
    "B-LT": "Level B-LT: the file itself proves when the seal existed and that no certificate was revoked by then.",
    "B-LTA": "Level B-LTA: the file itself proves when the seal existed and that no certificate was revoked by then, "
    "and an archive timestamp preserves the proof.",
}


def findings(
    reports: Sequence[SignatureReport],
    position: int,
    detached: DetachedTimestampsCheck,
    expired: Sequence[str],
    signers: Sequence[str],
) -> list[str]:
    """Return the verdict on the seal at ``position`` of ``reports``, then the findings of all signatures, each
    sentence once.

    ``expired``: sentences about expired timestamps; ``signers``: as in :func:`paraph.pdf.verification.verify.verify`.
    """
    seal = reports[position]
    sentences = [*_signer(seal, signers), *(_mismatch(report) for report in reports[:position] if not report.matches)]
    sentences.append(_time(seal))
    if seal.intact:
        sentences.append(_LEVELS[seal.level])
    sentences += [
        f'Timestamped beside the file, as it is now, on {clock.iso(timestamp.time)} by "{timestamp.authority}".'
        for timestamp in detached.timestamps
    ]
    sentences += [sentence for report in reports[:position] if report.trusted for sentence in report.changes]
    sentences += [*seal.changes, *detached.findings, *expired]
    sentences += [finding for report in reports for finding in report.findings]
    return list(dict.fromkeys(sentences))


def is_accepted(seal: SignatureReport, signers: Sequence[str]) -> bool:
    """Return whether the seal is by one of ``signers``; an empty list accepts everybody."""
    return not signers or (seal.certificate is not None and seal.certificate.is_one_of(signers))


def _signer(seal: SignatureReport, signers: Sequence[str]) -> Iterator[str]:
    """Name the signer and the root, who are trusted with this seal, and the purpose of the seal."""
    if seal.intact:
        covered = "the whole file" if seal.coverage == "whole file" else "its revision of the file"
        trust = "trusted" if seal.trusted else "not trusted"
        yield f'Sealed by "{seal.signer}", which is {trust}; the seal is intact and covers {covered}.'
    if seal.certificate:
        chain = f", which chains to the root {seal.root}" if seal.root else ""
        yield f"The signer's certificate is {seal.certificate}{chain}."
    if not is_accepted(seal, signers):
        yield f"It is not sealed by {' or '.join(signers)}."
    if seal.purpose:
        yield f"The seal says what it is for: {seal.purpose}."
    elif seal.intact:
        yield "The seal does not say what it is for, as those of other programs do not."


def _mismatch(earlier: SignatureReport) -> str:
    by = f' by "{earlier.signer}"' if earlier.signer else ""
    name = f"The earlier {earlier.kind} {earlier.field_name or 'without a name'}{by}"
    if earlier.matches is None:
        return f"Whether the file was altered after the earlier {name.partition('earlier ')[2]} cannot be told."
    return f"{name} no longer matches: the file was altered after it, and then sealed again."


def _time(seal: SignatureReport) -> str:
    if seal.timestamp is not None:
        trust = "" if seal.timestamp.trusted else ", which is not trusted"
        return f'Timestamped on {clock.iso(seal.timestamp.time)} by "{seal.timestamp.authority}"{trust}.'
    if seal.claimed_at is not None:
        return f"No timestamp; by the signer's own clock the time was {clock.iso(seal.claimed_at)}."
    return "No timestamp."


def expired_timestamps(checks: Sequence[SignatureCheck], detached: DetachedTimestampsCheck) -> list[str]:
    """Return a sentence for each timestamp that expired unpreserved. ``checks``: in the order of the file."""
    now = clock.now()
    return [
        f'The certificate of the timestamp authority "{authority}" has expired since; '
        "an archive timestamp before that would have preserved the proof."
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
