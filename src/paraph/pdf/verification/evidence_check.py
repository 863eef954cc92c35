"""The check that a proof file and the signed and uploaded files belong together, without the service."""

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from itertools import pairwise
from typing import Any

from paraph.kernel import clock
from paraph.pdf.pki import oids
from paraph.pdf.pki.certificate import is_issued_by, load
from paraph.pdf.pki.cms import digest_of, read_signed_data
from paraph.pdf.pki.purpose import PurposeKind
from paraph.pdf.report import EvidenceCheck, Verification
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp
from paraph.pdf.timestamps.timestamp import check_token
from paraph.pdf.verdict import SubIndication
from paraph.pdf.verification.pictures import DrawingTime
from paraph.pdf.verification.proof_file import (
    WITHOUT_PURPOSE,
    UnreadableEvidence,
    check_journal,
    check_signers,
    evidence_of,
    printed_text,
)
from paraph.pdf.verification.signed_file import SignedFile
from paraph.pdf.verification.verify import verify

_SEAL_EVENT = "signature_request.pades_signed"  # as the format of the evidence calls it

_Verified = Callable[[str], Verification]


def check_evidence(
    files: Mapping[str, bytes],
    roots: Sequence[bytes],
    detached_timestamps: Mapping[str, Sequence[DetachedTimestamp]] | None = None,
    signers: Sequence[str] = (),
    *,
    at: datetime | None = None,
    compared: Mapping[str, tuple[str, int]] | None = None,
) -> EvidenceCheck:
    """Compare a proof with its signed and uploaded files, given by name in any order. Raise nothing.

    Exactly one of ``files`` is a proof, and the others are signed or uploaded files of its documents; those that are
    not given are noted, and no other file may be there. ``roots``: DER of the certificates to trust;
    ``detached_timestamps``: those kept beside each file, by its name; ``signers``: who may have sealed proof and
    documents, and ``at``, as in :func:`paraph.pdf.verification.verify.verify`; ``compared``: SHA-256 (hexadecimal) and
    size of files that stay with whoever asks, by names that none of ``files`` has.
    """
    result, drawing = EvidenceCheck(as_of=at), DrawingTime()

    @cache
    def verified(name: str) -> Verification:
        timestamps = (detached_timestamps or {}).get(name, ())
        return verify(files[name], roots, timestamps, signers, drawing=drawing, at=at)

    with_evidence = _with_evidence(result, files, verified)
    if result.faults:
        return result
    proofs = {name: evidence for name, evidence in with_evidence.items() if not _is_document(verified(name))}
    if len(proofs) != 1:
        sentence = f"One proof file is needed; {len(proofs)} of the files are proofs."
        result.fault(sentence, "SIGNED_DATA_NOT_FOUND")
        for name in with_evidence.keys() - proofs.keys():
            said = f"its seal says that it is the {verified(name).purpose}"
            result.fault(f"{name} carries evidence, but is no proof: {said}.", "SIG_CONSTRAINTS_FAILURE")
        return result
    (proof_name, evidence), *_ = proofs.items()
    _check_sealed(result, proof_name, verified(proof_name))
    try:
        _check_purpose(result, proof_name, "proof", verified(proof_name), evidence)
        text = printed_text(files[proof_name])
        check_journal(result, evidence["journal"], text)
        check_signers(result, evidence["signers"], evidence["journal"], text)
        _check_documents(result, evidence, files, verified, proof_name, compared=compared or {})
    except UnreadableEvidence as error:
        result.fault(f"The evidence of {proof_name} cannot be read: {error}.", "GENERIC")
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError):  # certificates raise them too
        result.fault(f"The evidence of {proof_name} lacks what evidence must state.")
    return result


def _with_evidence(result: EvidenceCheck, files: Mapping[str, bytes], verified: _Verified) -> dict[str, dict[str, Any]]:
    """Return the evidence of each file that carries it; note what cannot be read, unless it is in a document."""
    found: dict[str, dict[str, Any]] = {}
    for name in files:
        try:
            evidence = evidence_of(files[name])
        except UnreadableEvidence as error:
            if not _is_document(verified(name)):
                result.fault(f"The evidence of {name} cannot be read: {error}.", "GENERIC")
            continue
        if evidence is not None:
            found[name] = evidence
    return found


def _is_document(seal: Verification) -> bool:
    """Return whether the seal is a document's: a customer chose all of its bytes, and may have attached evidence."""
    return seal.purpose is not None and seal.purpose.kind == "document"


def _check_sealed(result: EvidenceCheck, name: str, verification: Verification) -> None:
    """Note whether a file is sealed, intact and trusted as a whole, and its detached timestamps."""
    reasons, kind = " ".join(verification.findings), verification.verdict.sub_indication
    match = f'{name} is sealed by "{verification.signer}", intact and trusted.'
    result.note(verification.ok, match, f"{name}: {reasons}", kind)
    result.sealed[name] = verification
    if verification.ok:
        signer = f"{verification.certificate}, which chains to the root {verification.root}"
        result.matches.append(f"The signer's certificate of {name} is {signer}.")
    for timestamp in verification.detached_timestamps:
        result.matches.append(
            f'{name} was timestamped beside the file on {clock.iso(timestamp.time)} by "{timestamp.authority}".'
        )


def _check_purpose(
    result: EvidenceCheck, name: str, kind: PurposeKind, seal: Verification, evidence: Mapping[str, Any]
) -> None:
    """Note whether the seal's purpose is a proof or a document (as ``kind`` demands) of the evidence's request. A seal
    without a purpose is from before seals stated one. It is accepted on documents, and on proofs whose evidence is of
    that time."""
    purpose = seal.purpose
    if purpose is None:
        result.note(
            kind == "document" or evidence["format"] == WITHOUT_PURPOSE,
            f"{name} was sealed before seals said what they were for.",
            f"{name}: its seal does not say that it is a proof, which evidence of this format needs.",
            "SIG_CONSTRAINTS_FAILURE",
        )
        return
    request = evidence["request"]
    result.note(
        (purpose.kind, purpose.request_id, purpose.environment) == (kind, request["id"], request["environment"]),
        f"The seal of {name} says what it is for: {purpose}.",
        f"The seal of {name} was made for another purpose: {purpose}.",
        "SIG_CONSTRAINTS_FAILURE",
    )
    certificate = seal.certificate
    if certificate and certificate.is_for_proofs and kind != "proof":
        sentence = f"{name} is sealed by a certificate for proofs, but is none: {certificate}."
        result.fault(sentence, "CHAIN_CONSTRAINTS_FAILURE")
    # A development authority has separate certificates for proofs.
    if certificate and certificate.is_of_development and kind == "proof" and not certificate.is_for_proofs:
        sentence = f"{name} is not sealed by the certificate for proofs: {certificate}."
        result.fault(sentence, "CHAIN_CONSTRAINTS_FAILURE")


def _check_documents(
    result: EvidenceCheck,
    evidence: Mapping[str, Any],
    files: Mapping[str, bytes],
    verified: _Verified,
    proof_name: str,
    *,
    compared: Mapping[str, tuple[str, int]],
) -> None:
    """Note for each document which files match or were not given, and files that belong to no document."""
    digests = {name: digest for name, (digest, _) in compared.items()}  # first: the same file may be given, too
    digests |= {name: hashlib.sha256(files[name]).hexdigest() for name in files if name != proof_name}
    names = {digest: name for name, digest in digests.items()}
    seals = {
        entry["metadata"]["signed_pdf_sha256"]: entry["metadata"]
        for entry in evidence["journal"]
        if entry["event_type"] == _SEAL_EVENT
    }
    stated = {
        digest
        for document in evidence["documents"]
        for digest in (document["seal"]["signed_pdf_sha256"], document["uploaded_sha256"])
    }
    strange = [name for name, digest in digests.items() if digest not in stated]
    absent = list[str]()
    for document in evidence["documents"]:
        title, signed_digest = document["name"], document["seal"]["signed_pdf_sha256"]
        signed = _named(result, absent, names, f'the signed file of "{title}"', signed_digest)
        uploaded = _named(result, absent, names, f'the uploaded file of "{title}"', document["uploaded_sha256"])
        seal = seals.get(signed_digest)
        result.note(
            seal is not None,
            f'The journal names the seal of "{title}".',
            f'The journal names no such seal of "{title}".',
        )
        if signed in compared:
            result.notes.append(f"The seal of {signed} was not looked at: only its digest was given.")
        elif signed:
            _check_sealed(result, signed, verified(signed))
            _check_purpose(result, signed, "document", verified(signed), evidence)
            _check_same_sealer(result, proof_name, verified(proof_name), signed, verified(signed))
            _check_certificates(result, document, evidence["certificates"], signed, files[signed])
        if signed and signed in files and uploaded:
            size = compared[uploaded][1] if uploaded in compared else len(files[uploaded])
            given = (uploaded, document["uploaded_sha256"], size)
            _check_beginning(result, signed, files[signed], given, seal or {})
    result.note(bool(evidence["documents"]), "The proof names its documents.", "The proof names no document.")
    result.strange = {name: verified(name) for name in strange if name in files}
    held = [name for name, report in result.strange.items() if report.ok]
    is_other = not absent or held == strange  # not the absent one, altered
    kind: SubIndication = "SIGNED_DATA_NOT_FOUND" if is_other else "HASH_FAILURE"
    for sentence in [*absent, *(f"The proof says nothing of {name}." for name in strange)] if strange else ():
        result.fault(sentence, kind)
    if not strange:
        result.notes += absent


def _named(result: EvidenceCheck, absent: list[str], names: Mapping[str, str], what: str, digest: str) -> str | None:
    """Return the name of the file that has this digest, and note it; where there is none, note that in ``absent``."""
    name = names.get(digest)
    if name is None:
        absent.append(f"No file that was given is {what}: none has its digest.")
    else:
        result.matches.append(f"{name} is {what}.")
    return name


def _check_same_sealer(
    result: EvidenceCheck, proof_name: str, proof: Verification, name: str, document: Verification
) -> None:
    """Note whether one certificate, or one organization under one root, sealed proof and document."""
    if not (proof.certificate and document.certificate and proof.root and document.root):
        return  # _check_sealed() has noted a certificate that is not trusted
    same = proof.certificate == document.certificate
    related = proof.root == document.root and proof.certificate.organization == document.certificate.organization
    result.note(
        same or related,
        f"{proof_name} and {name} were sealed by the same {'certificate' if same else 'organization'}.",
        f"{proof_name} and {name} were sealed by different organizations: {proof.certificate} "
        f"and {document.certificate}.",
        "CHAIN_CONSTRAINTS_FAILURE",
    )


def _check_certificates(
    result: EvidenceCheck, document: Mapping[str, Any], known: Mapping[str, str], name: str, pdf: bytes
) -> None:
    """Note whether the chains of ``document["certificates"]`` are whole and begin with the certificates that made
    the seal and the timestamps of ``pdf``. ``known``: each certificate of the evidence as DER in base64, by the SHA-256
    of the DER in hexadecimal."""
    actual = signer_certificates(pdf)
    chains = {kind: [_decoded(known, each) for each in document["certificates"].get(kind, ())] for kind in actual}
    pairs = {kind: pairwise(map(load, chain)) for kind, chain in chains.items()}
    broken = [kind for kind, of_kind in pairs.items() if not all(is_issued_by(*pair) for pair in of_kind)]
    other = [kind for kind, chain in chains.items() if (chain[0] if chain else None) != actual[kind]]
    count = len({link for chain in chains.values() for link in chain})
    result.note(
        not broken and not other,
        f"The proof holds the {count} certificates of {name}, and they are those that made its seal and timestamps.",
        f"The proof states other certificates than those of {name}, or does not hold them all "
        f"({', '.join([*broken, *other])}).",
    )


def _decoded(known: Mapping[str, str], digest: str) -> bytes:
    encoded = base64.b64decode(known[digest], validate=True)
    if hashlib.sha256(encoded).hexdigest() != digest:
        raise ValueError("a certificate is not the one that its digest names")
    return encoded


def signer_certificates(pdf: bytes) -> dict[str, bytes | None]:
    """Return the certificates (DER), trusted or not, that made the last ``seal``, the ``timestamp`` in it, and the
    first document timestamp after it, the ``archive_timestamp``. Raise ``ValueError`` for a file without a seal that
    can be read."""
    file = SignedFile(pdf)
    fields = [field for field in file.signatures if not field.fault]
    seals = [position for position, field in enumerate(fields) if not field.is_document_timestamp]
    if not seals:
        raise ValueError("the file has no seal")
    signed = read_signed_data(fields[seals[-1]].contents)
    tokens = signed.unsigned_attributes.get(oids.TIMESTAMP_TOKEN)
    made = {
        "seal": signed.signer.encoded,
        "timestamp": check_token(tokens[0].raw, digest_of(signed.signature)).signer.encoded if tokens else None,
        "archive_timestamp": None,
    }
    for archive in fields[seals[-1] + 1 :][:1]:
        made["archive_timestamp"] = check_token(archive.contents, partial(file.digest, archive)).signer.encoded
    return made


def _check_beginning(
    result: EvidenceCheck, signed: str, content: bytes, given: tuple[str, str, int], seal: Mapping[str, Any]
) -> None:
    """Note whether the signed file begins with the uploaded one, or with the form of it that signers saw. ``given``:
    name, digest and size of the uploaded file; ``seal``: the facts of the seal in the journal. Earlier versions,
    which rewrote damaged files while sealing, state no digest of the rewritten file there."""
    uploaded, digest, size = given
    if "prepared_pdf_sha256" in seal:
        beginning = hashlib.sha256(content[: seal["prepared_pdf_size"]]).hexdigest()
        of_upload = seal["uploaded_pdf_sha256"] == digest
        result.note(
            of_upload and beginning == seal["prepared_pdf_sha256"],
            f"{signed} begins with the file that stood in for {uploaded}, as the journal says.",
            f"{signed} does not begin with the file that stood in for {uploaded}.",
            "HASH_FAILURE",
        )
    elif seal.get("method") == "normalised":
        result.matches.append(f"{uploaded} had to be rewritten before it was sealed, as the journal says.")
    else:
        result.note(
            hashlib.sha256(content[:size]).hexdigest() == digest,
            f"{signed} begins with {uploaded}.",
            f"{signed} does not begin with the bytes of {uploaded}.",
            "HASH_FAILURE",
        )
