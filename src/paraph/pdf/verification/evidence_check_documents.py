"""The documents in the evidence, against their signed and uploaded files."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from paraph.pdf.report import Verification
from paraph.pdf.verification.evidence_check_certificates import check_certificates
from paraph.pdf.verification.evidence_check_seals import check_purpose, check_same_sealer, check_sealed
from paraph.pdf.verification.evidence_result import EvidenceCheck

_SEAL_EVENT = "signature_request.pades_signed"  # as the format of the evidence calls it


def check_documents(
    result: EvidenceCheck,
    evidence: Mapping[str, Any],
    files: Mapping[str, bytes],
    verified: Callable[[str], Verification],
    proof_name: str,
) -> None:
    """Note for each document whether its files match and which of them were not given, and whether a file belongs to
    no document.

    ``files``: all but the proof; ``verified`` returns the verification of a file by its name. Raises ``KeyError``,
    ``TypeError`` or ``ValueError`` for incomplete evidence.
    """
    digests = {name: hashlib.sha256(pdf).hexdigest() for name, pdf in files.items()}
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
    strange = [name for name in files if digests[name] not in stated]
    absent = result.problems if strange else result.notes  # the strange one may be it, altered
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
        if signed:
            check_sealed(result, signed, verified(signed))
            check_purpose(result, signed, "document", verified(signed), evidence)
            check_same_sealer(result, proof_name, verified(proof_name), signed, verified(signed))
            check_certificates(result, document, evidence["certificates"], signed, files[signed])
        if signed and uploaded:
            _check_beginning(result, files, signed, uploaded, seal or {})
    result.note(bool(evidence["documents"]), "The proof names its documents.", "The proof names no document.")
    result.problems += [f"The proof says nothing of {name}." for name in strange]


def _named(result: EvidenceCheck, absent: list[str], names: Mapping[str, str], what: str, digest: str) -> str | None:
    """Return the name of the file that has this digest; tells it, or to ``absent`` that there is none."""
    name = names.get(digest)
    if name is None:
        absent.append(f"No file that was given is {what}: none has its digest.")
    else:
        result.matches.append(f"{name} is {what}.")
    return name


def _check_beginning(
    result: EvidenceCheck, files: Mapping[str, bytes], signed: str, uploaded: str, seal: Mapping[str, Any]
) -> None:
    """Note whether the signed file begins with the uploaded one, or with the form of it that signers saw.

    ``seal``: the facts of the seal in the journal. Those of earlier versions, which rewrote damaged files while
    sealing, have no digest of the rewritten file.
    """
    if "prepared_pdf_sha256" in seal:
        beginning = hashlib.sha256(files[signed][: seal["prepared_pdf_size"]]).hexdigest()
        of_upload = seal["uploaded_pdf_sha256"] == hashlib.sha256(files[uploaded]).hexdigest()
        result.note(
            of_upload and beginning == seal["prepared_pdf_sha256"],
            f"{signed} begins with the file that stood in for {uploaded}, as the journal says.",
            f"{signed} does not begin with the file that stood in for {uploaded}.",
        )
    elif seal.get("method") == "normalised":
        result.matches.append(f"{uploaded} had to be rewritten before it was sealed, as the journal says.")
    else:
        result.note(
            files[signed].startswith(files[uploaded]),
            f"{signed} begins with {uploaded}.",
            f"{signed} does not begin with the bytes of {uploaded}.",
        )
