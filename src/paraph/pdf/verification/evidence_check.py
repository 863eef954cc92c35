"""Ties a proof file to the signed and uploaded files it speaks of, without the service."""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pikepdf
import pypdfium2 as pdfium

from paraph.kernel import clock
from paraph.pdf.report import Verification
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp
from paraph.pdf.typesetting.proof_template_data import EVIDENCE
from paraph.pdf.verification.evidence_check_certificates import check_certificates
from paraph.pdf.verification.evidence_check_seals import check_purpose, check_same_sealer
from paraph.pdf.verification.evidence_check_signers import check_signers
from paraph.pdf.verification.verify import verify

_FORMATS = ("paraph-evidence/1", "paraph-evidence/2")


@dataclass
class EvidenceCheck:
    """What matches and what does not, a sentence each."""

    matches: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    sealed: dict[str, Verification] = field(default_factory=dict)
    """By the name of each sealed file what its seal says, and who made it."""

    @property
    def ok(self) -> bool:
        """Everything matches."""
        return bool(self.matches) and not self.problems

    def to_json(self) -> dict[str, Any]:
        seals = {name: seal.to_json() for name, seal in self.sealed.items()}
        told = ("certificate", "root", "purpose")
        return {
            "ok": self.ok,
            "matches": self.matches,
            "problems": self.problems,
            "sealed": {name: {key: seal[key] for key in told} for name, seal in seals.items()},
        }

    def note(self, holds: bool, match: str, problem: str) -> None:
        (self.matches if holds else self.problems).append(match if holds else problem)


def evidence_of(pdf: bytes) -> dict[str, Any] | None:
    """The evidence attached to a proof file; None where ``pdf`` is no proof. Raises nothing."""
    try:
        with pikepdf.open(io.BytesIO(pdf)) as document:
            evidence = json.loads(document.attachments[EVIDENCE].get_file().read_bytes())
    except Exception:  # noqa: BLE001 — a hostile file makes the reader raise anything
        return None
    return evidence if isinstance(evidence, dict) and evidence.get("format") in _FORMATS else None


def check_evidence(
    files: Mapping[str, bytes],
    roots: Sequence[bytes],
    kept: Mapping[str, Sequence[DetachedTimestamp]] | None = None,
    signers: Sequence[str] = (),
) -> EvidenceCheck:
    """Compares a proof with its signed and uploaded files, by name and in any order. Raises nothing.

    Exactly one of ``files`` is a proof; every document of it needs its signed and its uploaded file, and no other file
    may be there. ``roots``: DER of the certificates to trust; ``kept``: the timestamps kept beside each
    file, by its name; ``signers``: who may have sealed proof and documents, as
    :func:`paraph.pdf.verification.verify.verify` takes them.
    """
    result = EvidenceCheck()
    judge = _Judge(files, roots, kept or {}, signers)
    bearers = {name: evidence for name, pdf in files.items() if (evidence := evidence_of(pdf)) is not None}
    proofs = {name: evidence for name, evidence in bearers.items() if not _is_document(judge(name))}
    if len(proofs) != 1:
        result.problems.append(f"One proof file is needed; {len(proofs)} of the files are proofs.")
        result.problems += [
            f"{name} carries evidence, but is no proof: its seal says that it is the {judge(name).purpose}."
            for name in bearers.keys() - proofs.keys()
        ]
        return result
    (proof_name, evidence), *_ = proofs.items()
    _sealed(result, proof_name, judge)
    others = {name: pdf for name, pdf in files.items() if name != proof_name}
    try:
        check_purpose(result, proof_name, "proof", judge(proof_name), evidence)
        _journal(result, files[proof_name], evidence)
        _documents(result, evidence, others, judge, proof_name)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):  # also of certificates that cannot be read
        result.problems.append(f"The evidence of {proof_name} lacks what evidence must state.")
    return result


@dataclass(frozen=True)
class _Judge:
    """Verifies each file once."""

    files: Mapping[str, bytes]
    roots: Sequence[bytes]
    kept: Mapping[str, Sequence[DetachedTimestamp]]
    signers: Sequence[str]
    _found: dict[str, Verification] = field(default_factory=dict)

    def __call__(self, name: str) -> Verification:
        if name not in self._found:
            self._found[name] = verify(self.files[name], self.roots, self.kept.get(name, ()), self.signers)
        return self._found[name]


def _is_document(seal: Verification) -> bool:
    """A customer chose what is in it, evidence as well."""
    return seal.purpose is not None and seal.purpose.kind == "document"


def _sealed(result: EvidenceCheck, name: str, judge: _Judge) -> None:
    verification = judge(name)
    holds = verification.ok and verification.covers_whole_file
    why = " ".join(verification.findings)
    result.note(holds, f'{name} is sealed by "{verification.signer}", intact and trusted.', f"{name}: {why}")
    result.sealed[name] = verification
    if holds:
        whom = f"{verification.certificate}, which chains to the root {verification.root}"
        result.matches.append(f"The signer's certificate of {name} is {whom}.")
    for stamp in verification.detached_timestamps:
        result.matches.append(
            f'{name} was timestamped beside the file on {clock.iso(stamp.time)} by "{stamp.authority}".'
        )


def _journal(result: EvidenceCheck, proof: bytes, evidence: dict[str, Any]) -> None:
    """The rule of the chain is the one that the proof prints: SHA-256 of the entry's JSON, keys sorted, no spaces."""
    journal, previous = evidence["journal"], "00" * 32
    broken = None
    for position, entry in enumerate(journal, start=1):
        facts = {key: value for key, value in entry.items() if key != "hash"}
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        computed = hashlib.sha256(text.encode()).hexdigest()
        if facts["position"] != position or facts["previous_hash"] != previous or computed != entry["hash"]:
            broken = position
            break
        previous = entry["hash"]
    holds = bool(journal) and broken is None
    result.note(
        holds,
        f"The journal's {len(journal)} entries follow from each other.",
        f"The journal is broken at entry {broken or 1}.",
    )
    text = _text(proof)
    printed = bool(journal) and journal[-1]["hash"] in text
    result.note(
        printed, "The proof prints the journal's last hash.", "The proof does not print the journal's last hash."
    )
    check_signers(result, evidence["signers"], journal, text)


def _text(pdf: bytes) -> str:
    document = pdfium.PdfDocument(pdf)
    try:
        return "".join("".join(page.get_textpage().get_text_range().split()) for page in document)
    finally:
        document.close()


def _documents(
    result: EvidenceCheck, evidence: dict[str, Any], files: Mapping[str, bytes], judge: _Judge, proof_name: str
) -> None:
    digest_of = {name: hashlib.sha256(pdf).hexdigest() for name, pdf in files.items()}
    by_digest = {digest: name for name, digest in digest_of.items()}
    journalled = {
        entry["metadata"]["signed_pdf_sha256"]: entry["metadata"]
        for entry in evidence["journal"]
        if entry["event_type"] == "signature_request.pades_signed"
    }
    known: set[str] = set()
    for document in evidence["documents"]:
        title = document["name"]
        digests = {"signed": document["seal"]["signed_pdf_sha256"], "uploaded": document["uploaded_sha256"]}
        found = {kind: by_digest.get(digest) for kind, digest in digests.items()}
        known.update(digests.values())
        for kind, name in found.items():
            missing = f'No file has the digest of the {kind} file of "{title}".'
            result.note(name is not None, f'{name} is the {kind} file of "{title}".', missing)
        seal = journalled.get(digests["signed"])
        result.note(
            seal is not None,
            f'The journal names the seal of "{title}".',
            f'The journal names no such seal of "{title}".',
        )
        if signed := found["signed"]:
            _sealed(result, signed, judge)
            check_purpose(result, signed, "document", judge(signed), evidence)
            check_same_sealer(result, proof_name, judge(proof_name), signed, judge(signed))
            check_certificates(result, document, evidence["certificates"], signed, files[signed])
        if signed and found["uploaded"]:
            _prefix(result, files, signed, found["uploaded"], seal or {})
    result.note(bool(evidence["documents"]), "The proof names its documents.", "The proof names no document.")
    result.problems += [f"The proof says nothing of {name}." for name in files if digest_of[name] not in known]


def _prefix(
    result: EvidenceCheck, files: Mapping[str, bytes], signed: str, uploaded: str, seal: Mapping[str, Any]
) -> None:
    """``seal``: what the journal says of it. Earlier versions rewrote files when they sealed, and did not say how."""
    if "prepared_pdf_sha256" in seal:
        beginning = hashlib.sha256(files[signed][: seal["prepared_pdf_size"]]).hexdigest()
        of_upload = seal["uploaded_pdf_sha256"] == hashlib.sha256(files[uploaded]).hexdigest()
        result.note(
            of_upload and beginning == seal["prepared_pdf_sha256"],
            f"{signed} begins with the file that stood in for {uploaded}, as the journal says.",
            f"{signed} does not begin with the file that stood in for {uploaded}.",
        )
        return
    if seal.get("method") == "normalised":
        result.matches.append(f"{uploaded} had to be rewritten before it was sealed, as the journal says.")
        return
    begins = files[signed].startswith(files[uploaded])
    result.note(begins, f"{signed} begins with {uploaded}.", f"{signed} does not begin with the bytes of {uploaded}.")
