"""The check that a proof file and the signed and uploaded files belong together, without the service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from paraph.pdf.report import Verification
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp
from paraph.pdf.verification.evidence_check_documents import check_documents
from paraph.pdf.verification.evidence_check_journal import check_journal
from paraph.pdf.verification.evidence_check_seals import check_purpose, check_sealed
from paraph.pdf.verification.evidence_check_signers import check_signers
from paraph.pdf.verification.evidence_result import EvidenceCheck
from paraph.pdf.verification.proof_file import evidence_of, printed_text
from paraph.pdf.verification.verify import verify

__all__ = ["EvidenceCheck", "check_evidence", "evidence_of"]


def check_evidence(
    files: Mapping[str, bytes],
    roots: Sequence[bytes],
    detached_timestamps: Mapping[str, Sequence[DetachedTimestamp]] | None = None,
    signers: Sequence[str] = (),
) -> EvidenceCheck:
    """Compares a proof with its signed and uploaded files, given by name in any order. Raises nothing.

    Exactly one of ``files`` is a proof. Every document of it needs its signed and its uploaded file, and no other file
    may be there. ``roots``: DER of the certificates to trust; ``detached_timestamps``: those kept beside each file, by
    its name; ``signers``: who may have sealed proof and documents, as in
    :func:`paraph.pdf.verification.verify.verify`.
    """
    result = EvidenceCheck()
    verified = _Verifier(files, roots, detached_timestamps or {}, signers)
    with_evidence = {name: evidence for name, pdf in files.items() if (evidence := evidence_of(pdf)) is not None}
    proofs = {name: evidence for name, evidence in with_evidence.items() if not _is_document(verified(name))}
    if len(proofs) != 1:
        result.problems.append(f"One proof file is needed; {len(proofs)} of the files are proofs.")
        result.problems += [
            f"{name} carries evidence, but is no proof: its seal says that it is the {verified(name).purpose}."
            for name in with_evidence.keys() - proofs.keys()
        ]
        return result
    (proof_name, evidence), *_ = proofs.items()
    proof = files[proof_name]
    others = {name: pdf for name, pdf in files.items() if name != proof_name}
    check_sealed(result, proof_name, verified(proof_name))
    try:
        check_purpose(result, proof_name, "proof", verified(proof_name), evidence)
        text = printed_text(proof)
        check_journal(result, evidence["journal"], text)
        check_signers(result, evidence["signers"], evidence["journal"], text)
        check_documents(result, evidence, others, verified, proof_name)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):  # also of certificates that cannot be read
        result.problems.append(f"The evidence of {proof_name} lacks what evidence must state.")
    return result


@dataclass(frozen=True)
class _Verifier:
    """Verifies each file once, by its name."""

    files: Mapping[str, bytes]
    roots: Sequence[bytes]
    detached_timestamps: Mapping[str, Sequence[DetachedTimestamp]]
    signers: Sequence[str]
    _results: dict[str, Verification] = field(default_factory=dict)

    def __call__(self, name: str) -> Verification:
        if name not in self._results:
            timestamps = self.detached_timestamps.get(name, ())
            self._results[name] = verify(self.files[name], self.roots, timestamps, self.signers)
        return self._results[name]


def _is_document(seal: Verification) -> bool:
    """Whether the seal is a document's: a customer chose all of its bytes, and may have attached evidence."""
    return seal.purpose is not None and seal.purpose.kind == "document"
