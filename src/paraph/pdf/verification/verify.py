"""Verification of a sealed PDF without the service: bytes and roots in, a report out."""

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
from paraph.pdf.verification.findings import findings, is_accepted
from paraph.pdf.verification.signature_check import (
    SignatureCheck,
    cannot_judge,
    check_document_timestamp,
    check_seal,
    level,
)
from paraph.pdf.verification.timestamp_expiry import expired_timestamps


def verify(
    pdf: bytes,
    roots: Sequence[bytes],
    detached_timestamps: Sequence[DetachedTimestamp] = (),
    signers: Sequence[str] = (),
) -> Verification:
    """Reports on all signatures and timestamps of ``pdf``. Raises nothing, whatever the bytes are.

    ``roots``: DER of the certificates to trust, for seals and for timestamp authorities; ``detached_timestamps``: those
    kept beside the file; ``signers``: who may have sealed it, each by the SHA-256 of the certificate, its common name
    or its whole subject; without any, everybody below the roots. The verdict is that of the last seal, which covers all
    earlier signatures. These are reported one by one; one that proves an alteration after it makes the verdict fail.
    """
    try:
        return _verify(SignedFile(pdf), roots, check_detached_timestamps(pdf, detached_timestamps, roots), signers)
    except NotVerifiable as error:
        return Verification(findings=[str(error)])
    except Exception as error:  # noqa: BLE001 — a hostile file makes the reader raise anything
        return Verification(findings=[f"The file cannot be verified ({type(error).__name__})."])


def _verify(
    file: SignedFile, roots: Sequence[bytes], detached: DetachedTimestampsCheck, signers: Sequence[str]
) -> Verification:
    if not file.signatures:
        return Verification(findings=["The file is not sealed: it has no signature.", *file.findings])
    checks = _check_all(file, roots, detached)
    expired = expired_timestamps(checks, detached)
    reports = [_report(file, checks, check) for check in checks]
    position = _last_seal(checks)
    if position is None:
        return Verification(findings=_without_seal(file, checks), signatures=reports)
    before, seal, after = reports[:position], reports[position], reports[position + 1 :]
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
        findings=[*findings(reports, position, detached, expired, signers), *file.findings],
        signatures=reports,
        detached_timestamps=detached.timestamps,
        detached_timestamps_hold=not detached.findings,
    )


def _last_seal(checks: Sequence[SignatureCheck]) -> int | None:
    """Returns the position of the last signature that is a seal and can be read. An unreadable one after it still makes
    the verdict fail."""
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


def _check_all(file: SignedFile, roots: Sequence[bytes], detached: DetachedTimestampsCheck) -> list[SignatureCheck]:
    """Checks all signatures, in the order of the revisions. Document timestamps are checked first, since they prove
    when the seals before them existed."""
    carried = file.long_term_data() + detached.statuses
    archives = {
        position: _guarded(embedded, partial(check_document_timestamp, embedded, roots, carried))
        for position, embedded in enumerate(file.signatures)
        if embedded.is_document_timestamp
    }
    return [
        archives.get(position)
        or _guarded(embedded, partial(check_seal, embedded, roots, carried, _archived_at(position, archives, detached)))
        for position, embedded in enumerate(file.signatures)
    ]


def _guarded(embedded: EmbeddedSignature, check: Callable[[], SignatureCheck]) -> SignatureCheck:
    """Runs a check whose failure must not spoil the report on the other signatures."""
    if embedded.fault:
        return cannot_judge(embedded, embedded.fault)
    try:
        return check()
    except Exception as error:  # noqa: BLE001 — a hostile signature makes what reads certificates raise anything
        return cannot_judge(embedded, f"it confuses the reader ({type(error).__name__})")


def _archived_at(
    position: int, archives: dict[int, SignatureCheck], detached: DetachedTimestampsCheck
) -> datetime | None:
    """Returns the earliest time that is proven by what came after a signature."""
    later = [archives[other] for other in archives if other > position]
    proven = [check.timestamp.time for check in later if check.archives and check.timestamp]
    return min([*proven, *detached.times[:1]], default=None)


def _report(file: SignedFile, checks: list[SignatureCheck], check: SignatureCheck) -> SignatureReport:
    embedded, later = check.embedded, checks[checks.index(check) + 1 :]
    archives = [other for other in later if other.archives]
    archived = file.long_term_data(archives[-1].embedded) if archives else None
    altered, additions = changes(file, check, later)
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
        changes=tuple(additions),
        findings=tuple(check.findings),
    )
