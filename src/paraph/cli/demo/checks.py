"""Checks of what the demo brought back: seals, timestamps, digests in the journal, and webhooks."""

import hashlib
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from paraph.cli.demo.walk import DemoResult
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.untrusted.verify import check_evidence, verify


def tied(result: DemoResult, root_pem: bytes, out: Path) -> EvidenceCheck:
    """What ``paraph verify proof.pdf signed.pdf uploaded.pdf`` says of the three files once they are in ``out``."""
    files = {"proof.pdf": result.proof, "signed.pdf": result.signed, "uploaded.pdf": result.uploaded}
    return check_evidence({str(out / name): content for name, content in files.items()}, [_root(root_pem)])


def check(result: DemoResult, root_pem: bytes, tie: EvidenceCheck) -> list[str]:
    """What does not hold, a sentence each; empty when everything does."""
    root, problems = _root(root_pem), list(tie.problems)
    for name, content in (("signed.pdf", result.signed), ("proof.pdf", result.proof)):
        verification = verify(content, [root])
        if verification.ok and verification.timestamp is None:
            problems.append(f"{name} carries no timestamp")
    return problems + digest_problems(result) + _check_webhooks(result)


def digest_problems(result: DemoResult) -> list[str]:
    """A sentence for each downloaded file that is not the one whose digest the journal has."""
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
