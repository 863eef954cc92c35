"""The check of an evidence bundle: its form, its timestamp, its journal, and what its proof says of its files."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, BinaryIO

from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_pem_x509_certificates

from paraph.kernel import bounded_json, clock
from paraph.pdf.container.asic import AUTHORITY, JOURNAL, MANIFEST, PROOF, SIGNED, TIMESTAMP, TIMESTAMPS, Bundle, as_pem
from paraph.pdf.container.zip_form import ZipRefused
from paraph.pdf.pki.certificate import Untrusted, check_chain
from paraph.pdf.pki.cms import digest_of
from paraph.pdf.pki.one_form import token_in_one_form
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestampsRefused, read_timestamps_file
from paraph.pdf.timestamps.timestamp import TokenMismatch, TokenRefused, check_token
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.pdf.verification.proof_file import UnreadableEvidence, evidence_of, first_broken

_MOST_PARTS = 1_000_000


def check_bundle(
    file: BinaryIO, roots: Sequence[bytes], signers: Sequence[str] = (), *, at: datetime | None = None
) -> EvidenceCheck:
    """Check a bundle as a whole, with the timestamps that it has kept of its files. Raises nothing. ``roots``,
    ``signers`` and ``at`` as in :func:`~paraph.pdf.verification.evidence_check.check_evidence`: a bundle's own roots
    are trusted as little as the bundle."""
    result = EvidenceCheck(as_of=at)
    try:
        bundle = Bundle(file)
        sealed = [name for name in bundle if name == PROOF or name.startswith(SIGNED)]
        kept = {name: read_timestamps_file(bundle.part(TIMESTAMPS), bundle[name]) for name in sealed}
    except (ZipRefused, DetachedTimestampsRefused) as error:
        result.fault(f"This is no bundle of evidence as it was made: {error}")
        return result
    result = check_evidence(bundle, roots, kept, signers, at=at)
    _check_timestamp(result, bundle, roots, at)
    _check_journal(result, bundle)
    return result


def _check_timestamp(result: EvidenceCheck, bundle: Bundle, roots: Sequence[bytes], at: datetime | None) -> None:
    """Note whether the timestamp is one of the manifest, by an authority whose chain stands beside it."""
    if not bundle.is_stamped:
        result.fault("The bundle has no timestamp, so nobody says that these are all of its files.", "NO_POE")
        return
    try:
        token = check_token(bundle.part(TIMESTAMP), digest_of(bundle.part(MANIFEST)))
        beside = [each.public_bytes(Encoding.DER) for each in load_pem_x509_certificates(bundle.part(AUTHORITY))]
        chain = check_chain(token.signer, beside, roots, token.time)
        as_made = (token_in_one_form(bundle.part(TIMESTAMP)), as_pem(chain))
    except TokenMismatch:
        result.fault("The bundle's timestamp is one of something else.", "HASH_FAILURE")
    except (TokenRefused, Untrusted, ValueError) as error:
        result.fault(f"The bundle's timestamp does not count: {error}.", "NO_POE")
    else:
        if at and at < token.time:
            result.notes.append(f"The bundle was made later, on {clock.iso(token.time)}.")
        made = f'All files of the bundle are as they were on {clock.iso(token.time)}, says "{token.authority}".'
        problem = "The bundle's timestamp, or the chain of its authority, is written otherwise than it was made."
        result.note((bundle.part(TIMESTAMP), bundle.part(AUTHORITY)) == as_made, made, problem)


def _check_journal(result: EvidenceCheck, bundle: Bundle) -> None:
    """Note whether the journal goes on where that of the proof ends."""
    try:
        journal = bounded_json.loads(bundle.part(JOURNAL), _MOST_PARTS)
        proven: Mapping[str, Any] = evidence_of(bundle[PROOF]) or {}
        hashes = [entry["hash"] for entry in proven["journal"]]
        goes_on = first_broken(journal) is None and [entry["hash"] for entry in journal[: len(hashes)]] == hashes
    except (UnreadableEvidence, KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError):
        goes_on, journal = False, []
    told = f"The {len(journal)} entries of {JOURNAL} follow from each other and begin with those of the proof."
    result.note(goes_on, told, f"{JOURNAL} is not the journal of the proof.", "HASH_FAILURE")
