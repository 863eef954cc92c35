"""Verification of a sealed PDF: who, when, by which authority, what it covers, what changed since.

Nothing here needs the service: bytes and roots in, a :class:`~paraph.pdf.verification.Verification` out.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from paraph.kernel import clock
from paraph.pdf.ageing import note_aged
from paraph.pdf.changes import changes
from paraph.pdf.embedded import Embedded, SignedFile, Unreadable
from paraph.pdf.kept import KeptCheck, KeptRecord, check_kept
from paraph.pdf.signature_check import Check, cannot_judge, check_document_timestamp, check_seal, level
from paraph.pdf.verification import Level, SignatureReport, Verification

__all__ = ["verify"]


def verify(pdf: bytes, roots: Sequence[bytes], kept: Sequence[KeptRecord] = ()) -> Verification:
    """Everything about the signatures and timestamps of ``pdf``. Raises nothing, whatever the bytes are.

    ``roots``: DER of the certificates to trust, for seals and for timestamp authorities; ``kept``: timestamps kept
    beside the file. The verdict is that of the last seal; earlier signatures, which it covers, are reported one by
    one.
    """
    try:
        return _verify(SignedFile(pdf), roots, check_kept(pdf, kept, roots))
    except Unreadable as error:
        return Verification(findings=[str(error)])
    except Exception as error:  # noqa: BLE001 — a hostile file makes the reader raise anything
        return Verification(findings=[f"The file cannot be verified ({type(error).__name__})."])


def _verify(file: SignedFile, roots: Sequence[bytes], kept: KeptCheck) -> Verification:
    if not file.signatures:
        return Verification(findings=["The file is not sealed: it has no signature.", *file.findings])
    checks = _check_all(file, roots, kept)
    aged = note_aged(checks, kept)
    reports = [_report(file, checks, check) for check in checks]
    place = _last_seal(checks)
    if place is None:
        return Verification(findings=_without_seal(file, checks), signatures=reports)
    seal, after = reports[place], reports[place + 1 :]
    return Verification(
        intact=seal.intact and all(report.intact for report in after),
        trusted=seal.trusted and (seal.timestamp is None or seal.timestamp.trusted) and all(r.trusted for r in after),
        covers_whole_file=any(report.intact and report.coverage == "whole file" for report in [seal, *after]),
        altered=seal.altered,
        signer=seal.signer,
        signed_at=seal.timestamp.time if seal.timestamp and seal.timestamp.trusted else seal.claimed_at,
        timestamp=seal.timestamp,
        level=seal.level,
        changes=seal.changes,
        findings=[*_sentences(seal, reports, kept, aged), *file.findings],
        signatures=reports,
        kept=kept.timestamps,
        kept_holds=not kept.findings,
    )


def _last_seal(checks: Sequence[Check]) -> int | None:
    """Which of the signatures it is. One that cannot be read is none; after the seal it still speaks against the
    file."""
    seals = [
        i for i, check in enumerate(checks) if not check.embedded.fault and not check.embedded.is_document_timestamp
    ]
    return seals[-1] if seals else None


def _without_seal(file: SignedFile, checks: Sequence[Check]) -> list[str]:
    readable = any(not check.embedded.fault for check in checks)
    sentence = (
        "The file has a document timestamp but no seal." if readable else "The file has no seal that can be read."
    )
    return [sentence, *(finding for check in checks for finding in check.findings), *file.findings]


def _check_all(file: SignedFile, roots: Sequence[bytes], kept: KeptCheck) -> list[Check]:
    """In the order of the revisions. Timestamps first, since they prove when the seals before them existed."""
    carried = file.long_term_data() + kept.statuses
    stamps = {
        place: _guarded(embedded, partial(check_document_timestamp, embedded, roots, carried))
        for place, embedded in enumerate(file.signatures)
        if embedded.is_document_timestamp
    }
    return [
        stamps[place]
        if place in stamps
        else _guarded(embedded, partial(check_seal, embedded, roots, carried, _archived_at(place, stamps, kept)))
        for place, embedded in enumerate(file.signatures)
    ]


def _guarded(embedded: Embedded, check: Callable[[], Check]) -> Check:
    """What cannot be judged is said of that signature alone."""
    if embedded.fault:
        return cannot_judge(embedded, embedded.fault)
    try:
        return check()
    except Exception as error:  # noqa: BLE001 — a hostile signature makes what reads certificates raise anything
        return cannot_judge(embedded, f"it confuses the reader ({type(error).__name__})")


def _archived_at(place: int, stamps: dict[int, Check], kept: KeptCheck) -> datetime | None:
    """The earliest time that is proven by what came after a signature."""
    later = [stamps[other] for other in stamps if other > place]
    proven = [check.timestamp.time for check in later if check.archives and check.timestamp]
    return min([*proven, *kept.times[:1]], default=None)


def _report(file: SignedFile, checks: list[Check], check: Check) -> SignatureReport:
    embedded, later = check.embedded, checks[checks.index(check) + 1 :]
    archives = [other for other in later if other.archives]
    archived = file.long_term_data(archives[-1].embedded) if archives else None
    altered, sentences = changes(file, check, later)
    return SignatureReport(
        field_name=embedded.field_name,
        kind="document timestamp" if embedded.is_document_timestamp else "seal",
        signer=check.signer,
        intact=check.intact,
        trusted=check.trusted,
        coverage=check.coverage,
        claimed_at=check.claimed_at,
        timestamp=check.timestamp,
        level="" if embedded.is_document_timestamp else level(check, file.long_term_data(), archived),
        altered=altered,
        changes=tuple(sentences),
        findings=tuple(check.findings),
    )


_LEVELS: dict[Level, str] = {
    "": "The seal does not follow PAdES.",
    "B-B": "Level B-B: no trusted timestamp proves when the seal was made.",
    "B-T": "Level B-T: a trusted timestamp proves when the seal existed.",
    "B-LT": "Level B-LT: the file itself proves when the seal existed and that no certificate was revoked by then.",
    "B-LTA": "Level B-LTA: the file itself proves when the seal existed and that no certificate was revoked by then, "
    "and an archive timestamp preserves the proof.",
}


def _sentences(
    seal: SignatureReport, reports: list[SignatureReport], kept: KeptCheck, aged: Sequence[str]
) -> list[str]:
    """The verdict on the seal in plain words, then what was found in every signature, each sentence once."""
    sentences = []
    if seal.intact:
        covered = "the whole file" if seal.coverage == "whole file" else "its revision of the file"
        trust = "trusted" if seal.trusted else "not trusted"
        sentences.append(f'Sealed by "{seal.signer}", which is {trust}; the seal is intact and covers {covered}.')
    sentences.append(_when(seal))
    if seal.intact:
        sentences.append(_LEVELS[seal.level])
    sentences += [
        f'Timestamped beside the file, as it is now, on {clock.iso(stamp.time)} by "{stamp.authority}".'
        for stamp in kept.timestamps
    ]
    sentences += [*seal.changes, *kept.findings, *aged]
    return list(dict.fromkeys(sentences + [finding for report in reports for finding in report.findings]))


def _when(seal: SignatureReport) -> str:
    if seal.timestamp is not None:
        trust = "" if seal.timestamp.trusted else ", which is not trusted"
        return f'Timestamped on {clock.iso(seal.timestamp.time)} by "{seal.timestamp.authority}"{trust}.'
    if seal.claimed_at is not None:
        return f"No timestamp; by the signer's own clock the time was {clock.iso(seal.claimed_at)}."
    return "No timestamp."
