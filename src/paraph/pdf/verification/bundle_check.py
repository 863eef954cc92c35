"""The check of an evidence bundle: its form, its timestamp, its journal, and what its proof says about its files."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import chain
from typing import Any, BinaryIO

from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_certificates

from paraph.kernel import bounded_json, clock
from paraph.pdf.asic import (
    AUTHORITY,
    CERTIFICATES,
    INCLUSION,
    JOURNAL,
    MANIFEST,
    PROOF,
    README,
    REVOCATION,
    ROOTS,
    SIGNED,
    TIMESTAMP,
    TIMESTAMPS,
    UPLOADED,
    ZipRefused,
    as_pem,
    bundled,
    is_document,
    read_bundle,
)
from paraph.pdf.pki.certificate import Untrusted, check_chain
from paraph.pdf.pki.cms import digest_of
from paraph.pdf.pki.one_form import token_in_one_form
from paraph.pdf.report import EvidenceCheck, Inclusion
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestampsRefused, read_timestamps_file
from paraph.pdf.timestamps.timestamp import TokenMismatch, TokenRefused, check_token
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.pdf.verification.proof_file import UnreadableEvidence, evidence_of, first_broken

_MOST_PARTS = 1_000_000
_ALONE = f"Nothing else is known of {README}, {CERTIFICATES}, {ROOTS} and {REVOCATION}."


def check_bundle(
    file: BinaryIO, roots: Sequence[bytes], signers: Sequence[str] = (), *, at: datetime | None = None
) -> EvidenceCheck:
    """Check a bundle as a whole, with the timestamps that it has for its files. Raise nothing. ``roots``,
    ``signers`` and ``at`` as in :func:`~paraph.pdf.verification.evidence_check.check_evidence`: a bundle's own roots
    are trusted as little as the bundle. Its proof of inclusion in a transparency log is not checked here."""
    try:
        parts = read_bundle(file)
        files = parts.selected(is_document)
        sealed = parts.selected(lambda name: name == PROOF or name.startswith(SIGNED))
        kept = {name: read_timestamps_file(parts[TIMESTAMPS], sealed[name]) for name in sealed}
    except (ZipRefused, DetachedTimestampsRefused) as error:
        refused = EvidenceCheck(as_of=at)
        refused.fault(f"This is no bundle of evidence as it was made: {error}")
        return refused
    result = check_evidence(files, roots, kept, signers, at=at)
    _check_names(result, parts)
    _check_timestamp(result, parts, roots, at)
    _check_journal(result, parts)
    text = parts[INCLUSION].decode(errors="replace") if INCLUSION in parts else None
    result.inclusion = Inclusion(sha256(parts[PROOF]).digest(), text)
    return result


def _check_timestamp(
    result: EvidenceCheck, parts: Mapping[str, bytes], roots: Sequence[bytes], at: datetime | None
) -> None:
    """Note whether the timestamp is one of the manifest, by an authority whose chain stands beside it."""
    if TIMESTAMP not in parts:
        result.fault("The bundle has no timestamp, so nobody says that these are all of its files.", "NO_POE")
        return
    given = parts[TIMESTAMP], parts[AUTHORITY]
    try:
        token = check_token(given[0], digest_of(parts[MANIFEST]))
        beside = [each.public_bytes(Encoding.DER) for each in load_pem_x509_certificates(given[1])]
        authority = check_chain(token.signer, beside, roots, token.time)
        as_made = token_in_one_form(given[0]), as_pem(authority)
    except TokenMismatch:
        result.fault("The bundle's timestamp is one of something else.", "HASH_FAILURE")
    except (TokenRefused, Untrusted, ValueError) as error:
        result.fault(f"The bundle's timestamp does not count: {error}.", "NO_POE")
    else:
        moment = clock.iso(token.time)
        if at and at < token.time:
            result.notes.append(f"The bundle was made later, on {moment}.")
        made = f'All files of the bundle are as they were on {moment}, says "{token.authority}". {_ALONE}'
        problem = "The bundle's timestamp, or the chain of its authority, is written otherwise than it was made."
        result.note(given == as_made, made, problem)


def _check_names(result: EvidenceCheck, parts: Mapping[str, bytes]) -> None:
    """Note whether the files of each document have the names in the proof: whoever gets timestamps can pack a
    bundle anew, with other names. Nothing is noted where the proof does not hold, as it may state anything."""
    if result.ok:
        documents = (evidence_of(parts[PROOF]) or {})["documents"]
        names = chain(*bundled(each["name"] for each in documents))
        digests = chain(*((each["seal"]["signed_pdf_sha256"], each["uploaded_sha256"]) for each in documents))
        given = {name: sha256(parts[name]).hexdigest() for name in parts if name.startswith((SIGNED, UPLOADED))}
        problem = "The files in the bundle do not have the names that the documents of the proof give them."
        are_same = given == dict(zip(names, digests, strict=True))
        result.note(are_same, "Each file has the name of what the proof says it is.", problem, "HASH_FAILURE")


def _check_journal(result: EvidenceCheck, parts: Mapping[str, bytes]) -> None:
    """Note whether the journal goes on where that of the proof ends."""
    try:
        journal = bounded_json.loads(parts[JOURNAL], _MOST_PARTS)
        proven: Mapping[str, Any] = evidence_of(parts[PROOF]) or {}
        hashes = [entry["hash"] for entry in proven["journal"]]
        goes_on = first_broken(journal) is None and [entry["hash"] for entry in journal[: len(hashes)]] == hashes
    except (UnreadableEvidence, KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError):
        goes_on, journal = False, []
    told = f"The {len(journal)} entries of {JOURNAL} follow from each other and begin with those of the proof."
    result.note(goes_on, told, f"{JOURNAL} is not the journal of the proof.", "HASH_FAILURE")
