"""The check that a proof file and the signed and uploaded files belong together, without the service."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paraph.pdf.report import Verification
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp
from paraph.pdf.verification.evidence_check_documents import check_documents
from paraph.pdf.verification.evidence_check_journal import check_journal
from paraph.pdf.verification.evidence_check_seals import check_purpose, check_sealed
from paraph.pdf.verification.evidence_check_signers import check_signers
from paraph.pdf.verification.evidence_result import EvidenceCheck
from paraph.pdf.verification.pictures import DrawingTime
from paraph.pdf.verification.proof_file import UnreadableEvidence, evidence_of, printed_text
from paraph.pdf.verification.verify import verify

__all__ = ["EvidenceCheck", "check_evidence", "evidence_of"]


def check_evidence(
    files: Mapping[str, bytes],
    roots: Sequence[bytes],
    detached_timestamps: Mapping[str, Sequence[DetachedTimestamp]] | None = None,
    signers: Sequence[str] = (),
) -> EvidenceCheck:
    """Compare a proof with its signed and uploaded files, given by name in any order. Raises nothing.

    Exactly one of ``files`` is a proof, and the others are signed or uploaded files of its documents; those that are
    not given are noted, and no other file may be there. ``roots``: DER of the certificates to trust;
    ``detached_timestamps``: those kept beside each file, by its name; ``signers``: who may have sealed proof and
    documents, as in :func:`paraph.pdf.verification.verify.verify`.
    """
    result = EvidenceCheck()
    verified = _Verifier(files, roots, detached_timestamps or {}, signers)
    with_evidence = _with_evidence(result, files, verified)
    if result.problems:
        return result
    proofs = {name: evidence for name, evidence in with_evidence.items() if not _is_document(verified(name))}
    if len(proofs) != 1:
        result.problems.append(f"One proof file is needed; {len(proofs)} of the files are proofs.")
        result.problems += [
            f"{name} carries evidence, but is no proof: its seal says that it is the {verified(name).purpose}."
            for name in with_evidence.keys() - proofs.keys()
        ]
        return result
    (proof_name, evidence), *_ = proofs.items()
    check_sealed(result, proof_name, verified(proof_name))
    try:
        check_purpose(result, proof_name, "proof", verified(proof_name), evidence)
        text = printed_text(files[proof_name])
        check_journal(result, evidence["journal"], text)
        check_signers(result, evidence["signers"], evidence["journal"], text)
        check_documents(result, evidence, _Others(files, proof_name), verified, proof_name)
    except UnreadableEvidence as error:
        result.problems.append(f"The evidence of {proof_name} cannot be read: {error}.")
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError):  # also of certificates
        result.problems.append(f"The evidence of {proof_name} lacks what evidence must state.")
    return result


def _with_evidence(
    result: EvidenceCheck, files: Mapping[str, bytes], verified: "_Verifier"
) -> dict[str, dict[str, Any]]:
    """Return the evidence of each file that carries it, and notes evidence that cannot be read, unless it stands in a
    document."""
    found: dict[str, dict[str, Any]] = {}
    for name in files:
        try:
            evidence = evidence_of(files[name])
        except UnreadableEvidence as error:
            if not _is_document(verified(name)):
                result.problems.append(f"The evidence of {name} cannot be read: {error}.")
            continue
        if evidence is not None:
            found[name] = evidence
    return found


@dataclass(frozen=True)
class _Others(Mapping[str, bytes]):
    """All files but the proof. They are read when they are asked for, since there may be many large ones."""

    files: Mapping[str, bytes]
    proof_name: str

    def __getitem__(self, name: str) -> bytes:
        if name == self.proof_name:
            raise KeyError(name)
        return self.files[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.files if name != self.proof_name)

    def __len__(self) -> int:
        return len(self.files) - 1


@dataclass(frozen=True)
class _Verifier:
    """Verify each file once, by its name."""

    files: Mapping[str, bytes]
    roots: Sequence[bytes]
    detached_timestamps: Mapping[str, Sequence[DetachedTimestamp]]
    signers: Sequence[str]
    drawing: DrawingTime = field(default_factory=DrawingTime)
    _results: dict[str, Verification] = field(default_factory=dict)

    def __call__(self, name: str) -> Verification:
        if name not in self._results:
            timestamps = self.detached_timestamps.get(name, ())
            self._results[name] = verify(self.files[name], self.roots, timestamps, self.signers, self.drawing)
        return self._results[name]


def _is_document(seal: Verification) -> bool:
    """Whether the seal is a document's: a customer chose all of its bytes, and may have attached evidence."""
    return seal.purpose is not None and seal.purpose.kind == "document"
