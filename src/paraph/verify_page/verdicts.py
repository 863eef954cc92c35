"""The verdict on what was given, as ``paraph verify`` has it, and as the page shows it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings

from paraph.flow.sealing.context import key_folder
from paraph.keys.certificates import read_roots
from paraph.keys.sealing import trusted_roots
from paraph.pdf.report import EvidenceCheck, SignatureReport, Verification
from paraph.pdf.untrusted.verify import PROOF_ALONE, check_evidence, together, verify
from paraph.pdf.verdict import Verdict, Word
from paraph.verify_page.given_files import Given

_STRANGERS = "visitors of /verify"
"""On whose behalf files are read: all visitors together have as many places as one organization."""
_GRAVEST: tuple[Word, ...] = ("forged", "altered", "unknown", "holds")
_REASONS = {
    "FORMAT_FAILURE": "reason_changed",
    "HASH_FAILURE": "reason_changed",
    "SIG_CRYPTO_FAILURE": "reason_key",
    "NO_CERTIFICATE_CHAIN_FOUND": "reason_stranger",
    "SIGNED_DATA_NOT_FOUND": "reason_nothing",
    "CRYPTO_CONSTRAINTS_FAILURE": "reason_weak",
    "CRYPTO_CONSTRAINTS_FAILURE_NO_POE": "reason_weak",
    **dict.fromkeys(("REVOKED", "REVOKED_NO_POE", "REVOKED_CA_NO_POE"), "reason_revoked"),
    **dict.fromkeys(("EXPIRED", "NOT_YET_VALID", "OUT_OF_BOUNDS_NO_POE", "NO_POE"), "reason_time"),
}
Found = EvidenceCheck | dict[str, Verification]


def own_roots() -> list[bytes]:
    """Return the roots (DER) of this installation's own seals and timestamps."""
    return trusted_roots(settings.PARAPH, key_folder())


def find(given: Given) -> Found:
    """Return how proof and files match or, without a proof, the report on each file. Raise ReadersUnavailable."""
    added = settings.PARAPH.verify_roots
    roots = [*own_roots(), *(read_roots(added) if added else ())]
    with together(len(given.files)):
        if len(given.files) + len(given.compared) > 1:
            tied = check_evidence(given.files, roots, compared=given.compared, tenant_key=_STRANGERS)
            is_without_proof = not tied.sealed and tied.verdict.sub_indication == "SIGNED_DATA_NOT_FOUND"
            if given.compared or not is_without_proof:
                return tied
        reports = {name: verify(file, roots, tenant_key=_STRANGERS) for name, file in given.files.items()}
    return {name: _with_remark(report) for name, report in reports.items()}


def _with_remark(report: Verification) -> Verification:
    is_proof = report.purpose is not None and report.purpose.kind == "proof"
    return replace(report, findings=[*report.findings, PROOF_ALONE]) if is_proof else report


def as_json(found: Found) -> list[dict[str, Any]]:
    """Return the objects that ``paraph verify --json`` prints, for files without a proof with ``--each``."""
    if isinstance(found, EvidenceCheck):
        return [found.to_json()]
    return [{"file": name, **report.to_json()} for name, report in found.items()]


def as_shown(found: Found) -> dict[str, Any]:
    """Return what the page tells of the files."""
    tied = isinstance(found, EvidenceCheck)
    reports: Mapping[str, Verification] = found.sealed if isinstance(found, EvidenceCheck) else found
    verdicts = [found.verdict] if isinstance(found, EvidenceCheck) else [each.verdict for each in found.values()]
    gravest = min(verdicts, key=lambda verdict: _GRAVEST.index(verdict.word))
    files = [_file(name, report) for name, report in reports.items()]
    return {
        "verdict": gravest.word,
        "reason": _reason(gravest),
        "files": files,
        "matches": found.matches if isinstance(found, EvidenceCheck) else [],
        "problems": found.problems if isinstance(found, EvidenceCheck) else [],
        "not_compared": found.notes if isinstance(found, EvidenceCheck) else [],
        "lone_proof": not tied and any(each["is_proof"] for each in files),
        "sandbox": any(each["sandbox"] for each in files),
    }


def _reason(verdict: Verdict) -> str:
    return "reason_holds" if verdict.word == "holds" else _REASONS.get(verdict.sub_indication, "reason_other")


def _file(name: str, report: Verification) -> dict[str, Any]:
    verdict, purpose = report.verdict, report.purpose
    return {
        "name": name,
        "verdict": verdict.word,
        "reason": _reason(verdict),
        "level": report.level,
        "signatures": list(_signatures(report)),
        "findings": report.findings,
        "is_proof": bool(purpose and purpose.kind == "proof"),
        "sandbox": bool(purpose and purpose.environment == "sandbox"),
    }


def _signatures(report: Verification) -> Iterator[dict[str, Any]]:
    for each in report.signatures:
        yield {
            "signer": _signer(each),
            "is_known": each.root is not None,
            "sha256": each.certificate.sha256 if each.certificate else "",
            "verdict": each.verdict.word,
            "is_timestamp": each.kind == "document timestamp",
            "timestamp": each.timestamp,
            "claimed_at": each.claimed_at,
        }


def _signer(signature: SignatureReport) -> str:
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in signature.signer)
