"""Verification of sealed files, which are read in sandboxed processes only.

The findings are those of :mod:`paraph.pdf.verification`, reached within :data:`VERIFICATION_LIMITS
<paraph.pdf.untrusted.sandbox.VERIFICATION_LIMITS>`: a file that takes more is not valid. A file is bytes or an open
file, which is read whole and must not change meanwhile. Each function raises
:class:`~paraph.pdf.refusal.ReadersUnavailable` where no process is available.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime
from typing import Any, BinaryIO, TypeVar

from paraph.kernel import clock
from paraph.pdf.asic import INCLUSION
from paraph.pdf.refusal import PdfRefused, too_complex
from paraph.pdf.report import EvidenceCheck, Verification
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp, DetachedTimestampsRefused
from paraph.pdf.untrusted.sandbox import VERIFICATION_LIMITS, verification_sandbox
from paraph.pdf.untrusted.sandbox_wire import MOST_FILES, from_plain, to_plain
from paraph.pdf.verdict import Fault, SubIndication

File = bytes | BinaryIO

PROOF_ALONE = "It is a proof of other files, which were not given, so nothing was compared with it."
INCLUSION_ALONE = f"{INCLUSION} in the bundle, which takes --policy or --log."
TOO_MUCH = "needs more than 512 MB or 10 seconds to be read, so nothing is known of it"

_allowance: ContextVar[list[float] | None] = ContextVar("allowance", default=None)
"""The processor seconds that are left, where several calls share them."""

Value = TypeVar("Value")


def verify(
    pdf: File,
    roots: Sequence[bytes],
    detached_timestamps: Sequence[DetachedTimestamp] = (),
    signers: Sequence[str] = (),
    *,
    at: datetime | None = None,
    tenant_key: str = "",
) -> Verification:
    """Report on all signatures and timestamps of ``pdf``, whatever the bytes are.

    ``roots``: DER of the certificates to trust, for seals and for timestamp authorities; ``detached_timestamps``: those
    kept beside the file; ``signers``: who may have sealed it, each by the SHA-256 of the certificate, its common name
    or its whole subject; without any, everybody below the roots; ``at``: the time in the past as of which to report, if
    not now; ``tenant_key``: on whose behalf the file is read. Raise ReadersUnavailable, and ``ValueError`` for a time
    to come.
    """
    wanted = {"timestamps": to_plain(list(detached_timestamps)), "roots": to_plain(list(roots)), "at": _past(at)}
    try:
        return _asked(Verification, "verify", [pdf], **wanted, signers=list(signers), tenant_key=tenant_key)
    except PdfRefused as refused:
        return replace(Verification.without(described("The file", refused), _kind(refused)), as_of=at)


def check_evidence(
    files: Mapping[str, File],
    roots: Sequence[bytes],
    detached_timestamps: Mapping[str, Sequence[DetachedTimestamp]] | None = None,
    signers: Sequence[str] = (),
    *,
    at: datetime | None = None,
    compared: Mapping[str, tuple[str, int]] | None = None,
    tenant_key: str = "",
) -> EvidenceCheck:
    """Compare a proof with its signed and uploaded files, given by name in any order, whatever their bytes are.

    Exactly one of ``files`` is a proof. Each of its documents needs its signed and its uploaded file, and no other file
    may be there. ``detached_timestamps``: those kept beside each file, by its name; ``roots``, ``signers``, ``at`` and
    ``tenant_key`` as in :func:`verify`; ``compared``: SHA-256 (hexadecimal) and size of files that are not given
    themselves, by names of their own. Raise what :func:`verify` raises.
    """
    if len(files) + len(compared or {}) > MOST_FILES:
        sentence = f"At most {MOST_FILES} files can be compared at a time."
        return EvidenceCheck(faults=[Fault("GENERIC", sentence)], as_of=at)
    kept = {name: to_plain(list(records)) for name, records in (detached_timestamps or {}).items()}
    wanted = {"names": list(files), "roots": to_plain(list(roots)), "timestamps": kept, "signers": list(signers)}
    wanted |= {"compared": dict(compared or {}), "at": _past(at), "tenant_key": tenant_key}
    try:
        return _asked(EvidenceCheck, "check_evidence", list(files.values()), **wanted)
    except PdfRefused as refused:
        sentence = described("One of the files, or all of them together,", refused)
        return EvidenceCheck(faults=[Fault(_kind(refused), sentence)], as_of=at)


def check_bundle(
    bundle: File,
    roots: Sequence[bytes],
    signers: Sequence[str] = (),
    *,
    at: datetime | None = None,
    tenant_key: str = "",
) -> EvidenceCheck:
    """Check a bundle of evidence, and its files with each other, whatever its bytes are. ``roots``, ``signers``,
    ``at``, ``tenant_key`` and what is raised as in :func:`verify`."""
    wanted = {"roots": to_plain(list(roots)), "signers": list(signers), "tenant_key": tenant_key}
    try:
        return _asked(EvidenceCheck, "check_bundle", [bundle], **wanted, at=_past(at))
    except PdfRefused as refused:
        return EvidenceCheck(
            faults=[Fault(_kind(refused), described("The bundle, or a file in it,", refused))], as_of=at
        )


def altered_seals(pdf: File, roots: Sequence[bytes], *, tenant_key: str) -> list[str]:
    """Return the names of the seals after which a file was altered, among those that are trusted by ``roots`` or claim
    to be made by a service like this one; empty for a file that cannot be verified. ``tenant_key``: on whose behalf the
    file is read. Raise ReadersUnavailable."""
    try:
        return _asked(list[str], "altered_seals", [pdf], tenant_key=tenant_key, roots=to_plain(list(roots)))
    except PdfRefused:
        return []


def read_timestamps(file: File, sealed: File, earlier: Sequence[DetachedTimestamp] = ()) -> Sequence[DetachedTimestamp]:
    """Read the timestamps of ``sealed`` from ``file``: a file of timestamps kept beside sealed files, or a lone token.
    ``earlier``: those already known. Raise DetachedTimestampsRefused and ReadersUnavailable."""
    try:
        return _asked(list[DetachedTimestamp], "timestamps", [file, sealed], earlier=to_plain(list(earlier)))
    except PdfRefused as refused:
        raise DetachedTimestampsRefused(described("The file of timestamps, or what it is about,", refused)) from refused


@contextmanager
def together(files: int) -> Iterator[None]:
    """Hold all calls within the block to the processor time of one, and a quarter of a second more for each file."""
    token = _allowance.set([VERIFICATION_LIMITS.processor_seconds + files * 0.25])
    try:
        yield
    finally:
        _allowance.reset(token)


def described(what: str, refused: PdfRefused) -> str:
    return f"{what} {TOO_MUCH}." if refused.reason == "too_complex" else f"{what} cannot be read as a PDF."


def _past(at: datetime | None) -> str | None:
    if at is not None and at > clock.now():
        raise ValueError("the time is still to come")
    return at.isoformat() if at else None


def _kind(refused: PdfRefused) -> SubIndication:
    return "GENERIC" if refused.reason == "too_complex" else "SIGNED_DATA_NOT_FOUND"


def _asked(kind: type[Value], job: str, files: list[File], **arguments: Any) -> Value:
    sandbox, allowance = verification_sandbox(), _allowance.get()
    patience = min(1.0, allowance[0] / VERIFICATION_LIMITS.processor_seconds) if allowance else 1.0
    if patience <= 0:
        raise too_complex()
    before = sandbox.spent
    try:
        answer, _ = sandbox.call(job, files, patience=patience, **arguments)
    finally:
        if allowance:
            allowance[0] -= sandbox.spent - before
    if "raised" in answer:
        raise DetachedTimestampsRefused(str(answer["raised"]))
    try:
        return from_plain(kind, answer.get("value"))
    except (TypeError, ValueError) as error:  # a file has taken over the process that reads it
        raise too_complex() from error
