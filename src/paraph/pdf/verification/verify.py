"""Verification of a sealed PDF without the service: bytes and roots in, a report out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import pairwise

from paraph.kernel import clock
from paraph.pdf.report import Level, SignatureReport, Verification
from paraph.pdf.structure.signature_fields import ARCHIVE_TIMESTAMP, SignedField
from paraph.pdf.timestamps.detached_timestamps import (
    DetachedTimestamp,
    DetachedTimestampsCheck,
    check_detached_timestamps,
)
from paraph.pdf.verdict import Fault
from paraph.pdf.verification.changes import Changes, History, changes, end_at
from paraph.pdf.verification.pictures import DrawingTime, compare_pictures
from paraph.pdf.verification.signature_check import (
    ProvenTime,
    SignatureCheck,
    cannot_check,
    check_document_timestamp,
    check_one_form,
    check_seal,
    level,
)
from paraph.pdf.verification.signed_file import NotVerifiable, SignedFile, only_blanks

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
    """Return the verdict on the seal at ``position`` of ``reports``, then the findings of all signatures, each sentence
    once. ``expired``: sentences about expired timestamps; ``signers``: as in
    :func:`paraph.pdf.verification.verify.verify`."""
    seal = reports[position]
    sentences = [*_signer(seal, signers), *(each.sentence for each in _mismatches(reports[:position]))]
    sentences.append(_time(seal))
    if seal.intact:
        sentences.append(_LEVELS[seal.level])
    sentences += [
        f'Timestamped beside the file, as it is now, on {clock.iso(timestamp.time)} by "{timestamp.authority}".'
        for timestamp in detached.timestamps
    ]
    sentences += [sentence for report in reports[:position] if report.trusted for sentence in report.changes]
    sentences += [*seal.changes, *([detached.fault.sentence] if detached.fault else []), *expired]
    sentences += [finding for report in reports for finding in report.findings]
    return list(dict.fromkeys(sentences))


def is_accepted(seal: SignatureReport, signers: Sequence[str]) -> bool:
    """Return whether the seal is by one of ``signers``; an empty list accepts everybody."""
    return not signers or (seal.certificate is not None and seal.certificate.is_one_of(signers))


def _signer(seal: SignatureReport, signers: Sequence[str]) -> Iterator[str]:
    """Yield sentences that name the signer, the root that the certificate chains to, and the purpose of the seal."""
    if seal.intact:
        covered = "the whole file" if seal.coverage == "whole file" else "its revision of the file"
        trust = "trusted" if seal.trusted else "not trusted"
        yield f'Sealed by "{seal.signer}", which is {trust}; the seal is intact and covers {covered}.'
    if seal.certificate:
        chain = f", which chains to the root {seal.root}" if seal.root else ""
        yield f"The signer's certificate is {seal.certificate}{chain}."
    if not is_accepted(seal, signers):
        yield _of_others(signers)
    if seal.purpose:
        yield f"The seal says what it is for: {seal.purpose}."
    elif seal.intact:
        yield "The seal does not say what it is for, as those of other programs do not."


def _of_others(signers: Sequence[str]) -> str:
    return f"It is not sealed by {' or '.join(signers)}."


def _mismatches(earlier: Sequence[SignatureReport]) -> Iterator[Fault]:
    """Yield what the earlier signatures say about alterations before the file was sealed."""
    for report in earlier:
        by = f' by "{report.signer}"' if report.signer else ""
        name = f"earlier {report.kind} {report.field_name or 'without a name'}{by}"
        if report.matches is None:
            yield Fault("SIG_CONSTRAINTS_FAILURE", f"Whether the file was altered after the {name} cannot be told.")
        elif not report.matches:
            sentence = f"The {name} no longer matches: the file was altered after it, and then sealed again."
            yield Fault(report.verdict.sub_indication, sentence)


def _time(seal: SignatureReport) -> str:
    if seal.timestamp is not None:
        trust = "" if seal.timestamp.trusted else ", which is not trusted"
        return f'Timestamped on {clock.iso(seal.timestamp.time)} by "{seal.timestamp.authority}"{trust}.'
    if seal.claimed_at is not None:
        return f"No timestamp; by the signer's own clock the time was {clock.iso(seal.claimed_at)}."
    return "No timestamp."


def expired_timestamps(checks: Sequence[SignatureCheck], detached: DetachedTimestampsCheck, now: datetime) -> list[str]:
    """Return a sentence for each trusted timestamp that expired unpreserved by a later one. ``checks``: in the order of
    the file."""
    found = list[tuple[str, datetime, list[datetime]]]()
    for position, check in enumerate(checks, start=1):
        if check.timestamp and check.authority_ends:
            archives = [other.timestamp for other in checks[position:] if other.archives]
            later = [timestamp.time for timestamp in archives if timestamp]
            found.append((check.timestamp.authority, check.authority_ends, [*later, *detached.times]))
    for position, (timestamp, end) in enumerate(zip(detached.timestamps, detached.ends, strict=True), start=1):
        found.append((timestamp.authority, end, detached.times[position:]))
    return [
        f'The certificate of the timestamp authority "{authority}" has expired since; '
        "an archive timestamp before that would have preserved the proof."
        for authority, end, later in found
        if end < now and not any(time <= end for time in later)
    ]


def verify(
    pdf: bytes,
    roots: Sequence[bytes],
    detached_timestamps: Sequence[DetachedTimestamp] = (),
    signers: Sequence[str] = (),
    *,
    drawing: DrawingTime | None = None,
    at: datetime | None = None,
) -> Verification:
    """Report on all signatures and timestamps of ``pdf``. Raise nothing, whatever the bytes are.

    ``roots``: DER of the certificates to trust, for seals and for timestamp authorities; ``detached_timestamps``: those
    kept beside the file; ``signers``: who may have sealed it, each by the SHA-256 of the certificate, its common name
    or its whole subject; without any, everybody below the roots. The verdict is that of the last seal, which covers all
    earlier signatures. These are reported one by one; one that proves an alteration after it makes the verdict fail.
    ``drawing``: how long pages may be drawn and compared, a few seconds if not given; ``at``: a time in the past, as of
    which to report, if not now.
    """
    try:
        file, detached = SignedFile(pdf), check_detached_timestamps(pdf, detached_timestamps, roots)
        if at is not None:
            seen = sum(time <= at for time in detached.times)
            records = detached_timestamps if seen == len(detached.times) else detached_timestamps[:seen]
            if (end := end_at(file, _check_all(file, roots, detached), at)) == 0:
                raise NotVerifiable("The file was not sealed yet.")
            file, detached = SignedFile(pdf[:end], at), check_detached_timestamps(pdf, records, roots)
        return replace(_verify(file, roots, detached, signers, drawing or DrawingTime()), as_of=at)
    except NotVerifiable as error:
        return replace(Verification.without(str(error)), as_of=at)
    except MemoryError:
        raise  # the sandbox tells that the file takes too much
    except Exception as error:  # noqa: BLE001 — a hostile file makes the reader raise anything
        unread = Verification.without(f"The file cannot be verified ({type(error).__name__}).", "GENERIC")
        return replace(unread, as_of=at)


def _verify(
    file: SignedFile,
    roots: Sequence[bytes],
    detached: DetachedTimestampsCheck,
    signers: Sequence[str],
    drawing: DrawingTime,
) -> Verification:
    if not file.signatures:
        found = Verification.without("The file is not sealed: it has no signature.")
        return replace(found, findings=[*found.findings, *file.findings])
    checks = _check_all(file, roots, detached)
    expired = expired_timestamps(checks, detached, file.now)
    changed = _changed(file, checks)
    reports = [_report(file, check, checks[i + 1 :], changed[i]) for i, check in enumerate(checks)]
    seals = [i for i, check in enumerate(checks) if not check.field.fault and not check.field.is_document_timestamp]
    if not seals:
        return _without_seal(file, checks, reports)
    position = seals[-1]  # an unreadable one after it still fails the verdict
    before, seal, after = reports[:position], reports[position], reports[position + 1 :]
    uncovered = _uncovered(file, checks)
    faults = [fault for report in (seal, *after) for fault in report.all_faults]
    faults += [*_mismatches(before), *uncovered, *([detached.fault] if detached.fault else [])]
    if not file.looks_at_all:
        faults.append(Fault("GENERIC", file.findings[0]))
    if not is_accepted(seal, signers):
        faults.append(Fault("CHAIN_CONSTRAINTS_FAILURE", _of_others(signers)))
    told = [*findings(reports, position, detached, expired, signers), *file.findings]
    verification = Verification(
        intact=seal.intact and all(report.intact for report in after),
        trusted=seal.trusted and (seal.timestamp is None or seal.timestamp.trusted) and all(r.trusted for r in after),
        covers_whole_file=any(report.intact and report.coverage == "whole file" for report in [seal, *after]),
        altered=seal.altered or file.misstates_length,
        earlier_match=file.looks_at_all and all(report.matches for report in before) and seal.matches is not None,
        signer=seal.signer,
        certificate=seal.certificate,
        root=seal.root,
        signer_accepted=is_accepted(seal, signers),
        purpose=seal.purpose,
        signed_at=seal.timestamp.time if seal.timestamp and seal.timestamp.trusted else seal.claimed_at,
        timestamp=seal.timestamp,
        level=seal.level,
        changes=seal.changes,
        findings=list(dict.fromkeys([*told, *(each.sentence for each in [*uncovered, *faults])])),
        signatures=reports,
        detached_timestamps=detached.timestamps,
        detached_timestamps_hold=detached.fault is None,
        faults=faults,
    )
    return _with_pictures(verification, file, checks, changed, drawing) if verification.ok else verification


def altered_seals(pdf: bytes, roots: Sequence[bytes]) -> list[str]:
    """Return the names of the seals after which a file was altered, of those that are trusted or say that a service
    like this one made them: also where a signature that is not trusted, or cannot be read, came with the alteration.
    Empty for a file that cannot be verified. ``roots``: as in :func:`verify`."""
    try:
        file = SignedFile(pdf)
    except NotVerifiable:
        return []
    checks = _check_all(file, roots, check_detached_timestamps(pdf, (), roots))
    told = zip(checks, _changed(file, checks), strict=True)
    return [check.label for check, after in told if check.binds and (after.altered or after.open)]


def _changed(file: SignedFile, checks: Sequence[SignatureCheck]) -> list[Changes]:
    """Return what changed after each signature."""
    strict = History(file, [check.field for check in checks if check.is_accepted])
    lenient = History(file, [check.field for check in checks if check.intact], lenient=True)
    return [changes(file, strict, lenient, check, checks[number:]) for number, check in enumerate(checks, start=1)]


def _uncovered(file: SignedFile, checks: Sequence[SignatureCheck]) -> list[Fault]:
    """Tell from which byte on nothing that is trusted covers the file, or why some readers do not go by its end."""
    if file.misstates_length:
        sentence = "The file misstates the length of its first revision: readers that go by it may show other pages."
        return [Fault("FORMAT_FAILURE", sentence)]
    end = max((check.field.end for check in checks if check.is_accepted), default=len(file.pdf))
    if only_blanks(file.pdf, end):
        return []
    sentence = f"From byte {end} on, no trusted signature or timestamp covers the file."
    return [Fault("SIG_CONSTRAINTS_FAILURE", sentence)]


def _with_pictures(
    verification: Verification,
    file: SignedFile,
    checks: Sequence[SignatureCheck],
    changed: Sequence[Changes],
    drawing: DrawingTime,
) -> Verification:
    """Compare the pages as they were at the first trusted seal with those of the whole file."""
    first = next(i for i, check in enumerate(checks) if check.is_accepted and not check.field.is_document_timestamp)
    end = checks[first].field.end
    if only_blanks(file.pdf, end):
        return verification
    compared = compare_pictures(file.pdf[:end], file.pdf, changed[first].shown, drawing)
    name = checks[first].label
    if compared is None:
        told = f"The pages as they were at {name} cannot be drawn and compared."
    elif compared.different:
        told = f"Page {compared.different} looks different from what it was at {name}."
    elif compared.pages < compared.count:
        told = f"Of its {compared.count} pages the first {compared.pages} were drawn and compared with those at {name}."
    else:
        return verification
    altered = compared is not None and compared.different is not None
    faults = [Fault("FORMAT_FAILURE", told)] if altered else []
    return replace(verification, altered=altered, findings=[*verification.findings, told], faults=faults)


def _without_seal(
    file: SignedFile, checks: Sequence[SignatureCheck], reports: Sequence[SignatureReport]
) -> Verification:
    readable = any(not check.field.fault for check in checks)
    sentence = (
        "The file has a document timestamp but no seal." if readable else "The file has no seal that can be read."
    )
    faults = [*(fault for report in reports for fault in report.all_faults), Fault("SIGNED_DATA_NOT_FOUND", sentence)]
    told = [sentence, *(finding for report in reports for finding in report.findings), *file.findings]
    return Verification(findings=told, signatures=reports, faults=faults)


def _check_all(file: SignedFile, roots: Sequence[bytes], detached: DetachedTimestampsCheck) -> list[SignatureCheck]:
    """Check all signatures, in the order of the revisions. Document timestamps are checked first, since they prove when
    the seals before them existed. A removed signature counts only if nothing may be changed after it."""
    carried = file.long_term_data() + detached.statuses
    archives = {
        position: _guarded(field, partial(check_document_timestamp, file, field, roots, carried))
        for position, field in enumerate(file.signatures)
        if field.is_document_timestamp
    }
    checks = [
        archives.get(position)
        or _guarded(field, partial(check_seal, file, field, roots, carried, _made(position, archives, detached)))
        for position, field in enumerate(file.signatures)
    ]
    for seal, stamp in pairwise(checks):
        if seal.purpose is not None and stamp.archives and stamp.field.name.startswith(ARCHIVE_TIMESTAMP):
            check_one_form(file, stamp)
    return [check for check in checks if check.field not in file.removed or check.binds]


def _guarded(field: SignedField, check: Callable[[], SignatureCheck]) -> SignatureCheck:
    """Run a check whose failure must not spoil the report on the other signatures."""
    if field.fault:
        return cannot_check(field, field.fault, "FORMAT_FAILURE")
    try:
        return check()
    except MemoryError:
        raise  # the sandbox tells that the file takes too much
    except Exception as error:  # noqa: BLE001 — a hostile signature makes what reads certificates raise anything
        return cannot_check(field, f"it confuses the reader ({type(error).__name__})", "GENERIC")


def _made(position: int, archives: dict[int, SignatureCheck], detached: DetachedTimestampsCheck) -> ProvenTime:
    """Return what the timestamps before and after a signature prove about when it was made."""
    times = {i: check.timestamp.time for i, check in archives.items() if check.archives and check.timestamp}
    later = [time for other, time in times.items() if other > position]
    earlier = [time for other, time in times.items() if other < position]
    return ProvenTime(max(earlier, default=None), min([*later, *detached.times[:1]], default=None))


def _report(
    file: SignedFile, check: SignatureCheck, later: Sequence[SignatureCheck], changed: Changes
) -> SignatureReport:
    is_timestamp, archives = check.field.is_document_timestamp, [other for other in later if other.archives]
    stamp = archives[-1].timestamp if archives else None
    archived = (file.long_term_data(archives[-1].field), stamp.time) if stamp else None
    return SignatureReport(
        field_name=check.field.name,
        kind="document timestamp" if is_timestamp else "seal",
        signer=check.signer,
        certificate=check.certificate,
        root=check.root,
        purpose=check.purpose,
        intact=check.intact,
        matches=_matches(check, changed),
        trusted=check.trusted,
        coverage=check.coverage,
        claimed_at=check.claimed_at,
        timestamp=check.timestamp,
        level="" if is_timestamp else level(check, file.long_term_data(), archived),
        altered=changed.altered,
        changes=changed.sentences,
        faults=tuple(check.faults),
    )


def _matches(check: SignatureCheck, changed: Changes) -> bool | None:
    """Return whether the file is as it was signed; ``None`` where that cannot be told: after a signature was added that
    is not trusted, for a signature that only others may be able to read, or in a changed file for one nobody can."""
    if check.mismatch:
        return False
    if check.genuine:
        return None if changed.open else not changed.altered
    return True if check.field.blank and not changed.altered else None
