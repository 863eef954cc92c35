"""What the demo brought back: checked, and left in a folder."""

import hashlib
import json
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.cli.demo.walk import DemoResult
from paraph.cli.demo.webhook_receiver import json_lines
from paraph.kernel import clock
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.untrusted.verify import check_evidence, verify
from paraph_client import AuditLogEntry


def tied(result: DemoResult, root_pem: bytes, out: Path) -> EvidenceCheck:
    """Return what ``paraph verify proof.pdf signed.pdf uploaded.pdf`` says of the files once they are in ``out``."""
    files = {"proof.pdf": result.proof, "signed.pdf": result.signed, "uploaded.pdf": result.uploaded}
    return check_evidence({str(out / name): content for name, content in files.items()}, [_root(root_pem)])


def check(result: DemoResult, root_pem: bytes, tie: EvidenceCheck) -> list[str]:
    """Return what does not hold, a sentence each; empty when everything does."""
    root, problems = _root(root_pem), list(tie.problems)
    for name, content in (("signed.pdf", result.signed), ("proof.pdf", result.proof)):
        verification = verify(content, [root])
        if verification.ok and verification.timestamp is None:
            problems.append(f"{name} carries no timestamp")
    return problems + digest_problems(result) + _check_webhooks(result)


def digest_problems(result: DemoResult) -> list[str]:
    """Return a sentence for each downloaded file that is not the one whose digest the journal has."""
    problems = []
    stated = {entry.event_type: entry.metadata for entry in result.audit}
    digests = {
        "signature_request.pades_signed": ("signed_pdf_sha256", result.signed),
        "signature_request.certificate_issued": ("certificate_sha256", result.proof),
    }
    for event_type, (key, content) in digests.items():
        if stated.get(event_type, {}).get(key) != hashlib.sha256(content).hexdigest():
            problems.append(f"the journal's {key} is not the digest of the downloaded file")
    return problems


def _root(root_pem: bytes) -> bytes:
    return x509.load_pem_x509_certificate(root_pem).public_bytes(Encoding.DER)


def _check_webhooks(result: DemoResult) -> list[str]:
    problems = [
        f"the webhook {each.event} of delivery {each.delivery} is not signed with the application's secret"
        for each in result.webhooks
        if not each.is_genuine(result.webhook_secret)
    ]
    heard = {each.event for each in result.webhooks}
    wanted = ("signer.otp_sent", "signer.signed", "request.completed")
    return problems + [f"no webhook {event} came" for event in wanted if event not in heard]


def write(out: Path, result: DemoResult, root_pem: bytes, seconds: dict[str, float], problems: list[str]) -> list[Path]:
    """Write the files into ``out`` and return their paths. There is none of the root or the webhooks without any."""
    pdfs = {"uploaded.pdf": result.uploaded, "signed.pdf": result.signed, "proof.pdf": result.proof}
    report = {
        "request_id": result.request_id,
        "verified": not problems,
        "problems": problems,
        "seconds": seconds | {"total": round(sum(seconds.values()), 3)},
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in pdfs.items()},
    }
    known = {"webhooks.jsonl": json_lines(result.webhooks), "root-ca.pem": root_pem}
    files = pdfs | {
        "audit.json": _json([_entry(entry) for entry in result.audit]),
        **{name: content for name, content in known.items() if content},
        "report.json": _json(report),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
    return [out / name for name in files]


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _entry(entry: AuditLogEntry) -> dict[str, Any]:
    return vars(entry) | {"created_at": clock.iso(entry.created_at)}
