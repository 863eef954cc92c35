"""The seals of a proof and its documents: valid, for the purpose that the evidence states, by one sealer."""

from collections.abc import Mapping
from typing import Any

from paraph.kernel import clock
from paraph.pdf.pki.purpose import PurposeKind
from paraph.pdf.report import Verification
from paraph.pdf.verification.evidence_result import EvidenceCheck
from paraph.pdf.verification.proof_file import WITHOUT_PURPOSE


def check_sealed(result: EvidenceCheck, name: str, verification: Verification) -> None:
    """Note whether a file is sealed, intact and trusted as a whole, and its detached timestamps."""
    holds = verification.ok and verification.covers_whole_file
    reasons = " ".join(verification.findings)
    result.note(holds, f'{name} is sealed by "{verification.signer}", intact and trusted.', f"{name}: {reasons}")
    result.sealed[name] = verification
    if holds:
        signer = f"{verification.certificate}, which chains to the root {verification.root}"
        result.matches.append(f"The signer's certificate of {name} is {signer}.")
    for timestamp in verification.detached_timestamps:
        result.matches.append(
            f'{name} was timestamped beside the file on {clock.iso(timestamp.time)} by "{timestamp.authority}".'
        )


def check_purpose(
    result: EvidenceCheck, name: str, kind: PurposeKind, seal: Verification, evidence: Mapping[str, Any]
) -> None:
    """Note whether the seal's purpose is a proof or a document, as ``kind`` demands, of the evidence's request.

    A seal without a purpose is from before seals stated one. It is accepted on documents, and on proofs whose evidence
    is of that time. Raises ``KeyError`` or ``TypeError`` for incomplete evidence.
    """
    purpose = seal.purpose
    if purpose is None:
        result.note(
            kind == "document" or evidence["format"] == WITHOUT_PURPOSE,
            f"{name} was sealed before seals said what they were for.",
            f"{name}: its seal does not say that it is a proof, which evidence of this format needs.",
        )
        return
    request = evidence["request"]
    result.note(
        (purpose.kind, purpose.request_id, purpose.environment) == (kind, request["id"], request["environment"]),
        f"The seal of {name} says what it is for: {purpose}.",
        f"The seal of {name} was made for another purpose: {purpose}.",
    )
    _check_proof_certificate(result, name, kind, seal)


def check_same_sealer(
    result: EvidenceCheck, proof_name: str, proof: Verification, name: str, document: Verification
) -> None:
    """Note whether proof and document were sealed by the same certificate, or by certificates of the same organization
    under the same root."""
    if not (proof.certificate and document.certificate and proof.root and document.root):
        return  # check_sealed() has noted a certificate that is not trusted
    same = proof.certificate == document.certificate
    related = proof.root == document.root and proof.certificate.organization == document.certificate.organization
    result.note(
        same or related,
        f"{proof_name} and {name} were sealed by the same {'certificate' if same else 'organization'}.",
        f"{proof_name} and {name} were sealed by different organizations: {proof.certificate} "
        f"and {document.certificate}.",
    )


def _check_proof_certificate(result: EvidenceCheck, name: str, kind: PurposeKind, seal: Verification) -> None:
    """Note a certificate for proofs on another file, and a proof of a development authority without such a one: that
    authority has separate certificates for proofs."""
    certificate = seal.certificate
    if certificate is None:
        return
    if certificate.is_for_proofs and kind != "proof":
        result.problems.append(f"{name} is sealed by a certificate for proofs, but is none: {certificate}.")
    if certificate.is_of_development and kind == "proof" and not certificate.is_for_proofs:
        result.problems.append(f"{name} is not sealed by the certificate for proofs: {certificate}.")
