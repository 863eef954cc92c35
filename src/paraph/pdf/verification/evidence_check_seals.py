"""Who sealed the files of a proof, and what for: seals must say what the evidence says, and come from one hand."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paraph.pdf.pki.purpose import PurposeKind
from paraph.pdf.report import Verification

if TYPE_CHECKING:
    from paraph.pdf.verification.evidence_check import EvidenceCheck

WITHOUT_PURPOSE = "paraph-evidence/1"
"""The format of evidence in proofs that were sealed before seals said what they were for."""


def check_purpose(
    result: "EvidenceCheck", name: str, kind: PurposeKind, seal: Verification, evidence: Mapping[str, Any]
) -> None:
    """Notes whether the seal of the file was made for this: as proof or document, of the evidence's request.

    A seal that does not say so was made before seals did; it stands for what it did then, where the evidence is of
    that time or the file is a document. Raises ``KeyError`` or ``TypeError`` for evidence that does not say what
    evidence must.
    """
    purpose = seal.purpose
    if purpose is None:
        said = kind == "document" or evidence["format"] == WITHOUT_PURPOSE
        result.note(
            said,
            f"{name} was sealed before seals said what they were for.",
            f"{name}: its seal does not say that it is a proof, which evidence of this format needs.",
        )
        return
    request = evidence["request"]
    wanted = (kind, request["id"], request["environment"])
    result.note(
        (purpose.kind, purpose.request_id, purpose.environment) == wanted,
        f"The seal of {name} says what it is for: {purpose}.",
        f"The seal of {name} was made for another purpose: {purpose}.",
    )
    _check_proof_certificate(result, name, kind, seal)


def check_same_sealer(
    result: "EvidenceCheck", proof_name: str, proof: Verification, name: str, document: Verification
) -> None:
    """Notes whether proof and document were sealed by one hand: by the same certificate, or by certificates of the
    same organization under the same root."""
    if not (proof.certificate and document.certificate and proof.root and document.root):
        return  # what is not trusted was told
    same = proof.certificate == document.certificate
    related = proof.root == document.root and proof.certificate.organization == document.certificate.organization
    result.note(
        same or related,
        f"{proof_name} and {name} were sealed by the same {'certificate' if same else 'organization'}.",
        f"{proof_name} and {name} were sealed by different organizations: {proof.certificate} "
        f"and {document.certificate}.",
    )


def _check_proof_certificate(result: "EvidenceCheck", name: str, kind: PurposeKind, seal: Verification) -> None:
    """A certificate for proofs seals nothing else; a development authority has such certificates, and so its proofs
    need them."""
    own = seal.certificate
    if own is None:
        return
    if own.is_for_proofs and kind != "proof":
        result.problems.append(f"{name} is sealed by a certificate for proofs, but is none: {own}.")
    if own.is_of_development and kind == "proof" and not own.is_for_proofs:
        result.problems.append(f"{name} is not sealed by the certificate for proofs: {own}.")
