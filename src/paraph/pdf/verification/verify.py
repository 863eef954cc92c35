"""Verification of a sealed PDF: who, when, by which authority, what it covers, what changed since.

Nothing here needs the service: bytes and roots in, a :class:`~paraph.pdf.report.Verification` out.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from paraph.pdf.report import SignatureReport, Verification
from paraph.pdf.timestamps.detached_timestamps import (
    DetachedTimestamp,
    DetachedTimestampsCheck,
    check_detached_timestamps,
)
from paraph.pdf.verification.changes import changes
from paraph.pdf.verification.embedded_signatures import EmbeddedSignature, NotVerifiable, SignedFile
from paraph.pdf.verification.findings import is_accepted, sentences
from paraph.pdf.verification.signature_check import (
    SignatureCheck,
    cannot_judge,
    check_document_timestamp,
    check_seal,
    level,
)
from paraph.pdf.verification.timestamp_expiry import expired_timestamps

__all__ = ["verify"]


def verify(
    pdf: bytes, roots: Sequence[bytes], kept: Sequence[DetachedTimestamp] = (), signers: Sequence[str] = ()
) -> Verification:
    """Everything about the signatures and timestamps of ``pdf``. Raises nothing, whatever the bytes are.

    ``roots``: DER of the certificates to trust, for seals and for timestamp authorities; ``kept``: timestamps kept
    beside the file; ``signers``: who may have sealed it, each by the SHA-256 of the certificate, its common name or its
    whole subject, and where there is none, everybody below the roots. The verdict is that of the last seal; earlier
    signatures, which it covers, are reported one by one, and one that shows that the file was altered after it speaks
    against the file.
    """
    try:
        return _verify(SignedFile(pdf), roots, check_detached_timestamps(pdf, kept, roots), signers)
    except NotVerifiable as error:
        return Verification(findings=[str(error)])
    except Exception as error:  # noqa: BLE001 — a hostile file makes the reader raise anything
        return Verification(findings=[f"The file cannot be verified ({type(error).__name__})."])


def _verify(
    file: SignedFile, roots: Sequence[bytes], kept: DetachedTimestampsCheck, signers: Sequence[str]
) -> Verification:
    if not file.signatures:
        return Verification(findings=["The file is not sealed: it has no signature.", *file.findings])
    checks = _check_all(file, roots, kept)
    aged = expired_timestamps(checks, kept)
    reports = [_report(file, checks, check) for check in checks]
    place = _last_seal(checks)
    if place is None:
        return Verification(findings=_without_seal(file, checks), signatures=reports)
    before, seal, after = reports[:place], reports[place], reports[place + 1 :]
    return Verification(
        intact=seal.intact and all(report.intact for report in after),
        trusted=seal.trusted and (seal.timestamp is None or seal.timestamp.trusted) and all(r.trusted for r in after),
        covers_whole_file=any(report.intact and report.coverage == "whole file" for report in [seal, *after]),
        altered=seal.altered,
        earlier_match=all(report.matches for report in before),
        signer=seal.signer,
        certificate=seal.certificate,
        root=seal.root,
        signer_accepted=is_accepted(seal, signers),
        purpose=seal.purpose,
        signed_at=seal.timestamp.time if seal.timestamp and seal.timestamp.trusted else seal.claimed_at,
        timestamp=seal.timestamp,
        level=seal.level,
        changes=seal.changes,
        findings=[*sentences(reports, place, kept, aged, signers), *file.findings],
        signatures=reports,
        detached_timestamps=kept.timestamps,
        detached_timestamps_hold=not kept.findings,
    )


def _last_seal(checks: Sequence[SignatureCheck]) -> int | None:
    """Which of the signatures it is. One that cannot be read is none; after the seal it still speaks against the
    file."""
    seals = [
        i for i, check in enumerate(checks) if not check.embedded.fault and not check.embedded.is_document_timestamp
    ]
    return seals[-1] if seals else None


def _without_seal(file: SignedFile, checks: Sequence[SignatureCheck]) -> list[str]:
    readable = any(not check.embedded.fault for check in checks)
    sentence = (
        "The file has a document timestamp but no seal." if readable else "The file has no seal that can be read."
    )
    return [sentence, *(finding for check in checks for finding in check.findings), *file.findings]


def _check_all(file: SignedFile, roots: Sequence[bytes], kept: DetachedTimestampsCheck) -> list[SignatureCheck]:
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


def _guarded(embedded: EmbeddedSignature, check: Callable[[], SignatureCheck]) -> SignatureCheck:
    """What cannot be judged is said of that signature alone."""
    if embedded.fault:
        return cannot_judge(embedded, embedded.fault)
    try:
        return check()
    except Exception as error:  # noqa: BLE001 — a hostile signature makes what reads certificates raise anything
        return cannot_judge(embedded, f"it confuses the reader ({type(error).__name__})")


def _archived_at(place: int, stamps: dict[int, SignatureCheck], kept: DetachedTimestampsCheck) -> datetime | None:
    """The earliest time that is proven by what came after a signature."""
    later = [stamps[other] for other in stamps if other > place]
    proven = [check.timestamp.time for check in later if check.archives and check.timestamp]
    return min([*proven, *kept.times[:1]], default=None)


def _report(file: SignedFile, checks: list[SignatureCheck], check: SignatureCheck) -> SignatureReport:
    embedded, later = check.embedded, checks[checks.index(check) + 1 :]
    archives = [other for other in later if other.archives]
    archived = file.long_term_data(archives[-1].embedded) if archives else None
    altered, sentences = changes(file, check, later)
    return SignatureReport(
        field_name=embedded.field_name,
        kind="document timestamp" if embedded.is_document_timestamp else "seal",
        signer=check.signer,
        certificate=check.certificate,
        root=check.root,
        purpose=check.purpose,
        intact=check.intact,
        matches=not (check.mismatch or (check.intact and altered)),
        trusted=check.trusted,
        coverage=check.coverage,
        claimed_at=check.claimed_at,
        timestamp=check.timestamp,
        level="" if embedded.is_document_timestamp else level(check, file.long_term_data(), archived),
        altered=altered,
        changes=tuple(sentences),
        findings=tuple(check.findings),
    )
