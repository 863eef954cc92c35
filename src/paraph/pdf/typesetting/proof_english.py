"""The proof in English."""

from collections.abc import Mapping
from typing import Any

from paraph.pdf.typesetting.proof_content import ProofContent
from paraph.pdf.typesetting.proof_words import ProofWords, milliseconds

_METADATA = {
    "mode": "signing order",
    "signers_count": "signers",
    "channel": "channel",
    "recipients": "sent to",
    "expires_at": "expired at",
    "document_id": "document",
    "method": "sealed by",
    "level": "PAdES level",
    "level_reasons": "why no higher level",
    "timestamp_failures": "authorities that failed",
    "provider": "channel",
    "recipient": "sent to",
    "resend": "sent again",
    "acknowledgement": "delivery confirmed as",
    "consent_notice": "consent text accepted",
    "documents_count": "documents signed",
    "documents": "can look different than signed",
    "prepared_documents": "signed in another form",
    "locale": "language",
    "signed_pdf_sha256": "SHA-256 of the signed file",
    "uploaded_pdf_sha256": "SHA-256 of the uploaded file",
    "prepared_pdf_sha256": "SHA-256 of the file that stood in for it, which signers saw",
    "prepared_pdf_size": "Bytes of that file, with which the signed one begins",
    "signing_algorithm": "seal algorithm",
    "kms_key_id": "key",
    "kms_request_id": "key request",
    "timestamped": "timestamped",
    "timestamp_authority": "timestamp authority",
    "timestamp_policy_oid": "timestamp policy",
    "timestamped_at": "timestamp",
    "certificate_sha256": "SHA-256 of the proof file",
}
_PARTS = {
    "scripts": "scripts",
    "actions": "actions",
    "layers": "layers",
    "media": "sound, film or 3D models",
    "xfa_form": "an XFA form",
    "hover_annotations": "annotations that come or go under the mouse",
    "screen_only_annotations": "annotations that are not printed",
    "print_only_annotations": "annotations that are only printed",
    "print_only_contents": "contents for printers alone",
}
_CHANNELS = {"sms": "SMS", "email": "e-mail"}
_MODES = {"sequential": "one after the other", "parallel": "in any order"}
_STEPS = (
    (
        "Compare the digest of each signed file with the one under Documents.",
        "sha256sum signed.pdf",
    ),
    (
        "Check the seals of the signed files and of this proof: with paraph, with poppler’s pdfsig, in Adobe "
        "Acrobat or with any other PAdES validator. The root certificate comes from the service.",
        "paraph verify signed.pdf --root root-ca.pem",
    ),
    (
        "The RFC 3161 timestamps of the documents’ seals are named above. This proof is sealed too; its own "
        "timestamp can only come after these pages were set, so it stands in the seal, with the issuing authority:",
        "pdfsig -dump proof.pdf",
    ),
    (
        "The file evidence.json attached to this proof has every fact in machine-readable form. The hash of a "
        "journal entry is the SHA-256 of its JSON with sorted keys and no spaces; the last must be the one above.",
        "pdfdetach -saveall proof.pdf",
    ),
    (
        "All of this at once, without the service: that this proof, the signed and the uploaded files belong together.",
        "paraph verify proof.pdf signed.pdf uploaded.pdf --root root-ca.pem",
    ),
)


def _acknowledgement(text: str) -> str:
    """Says which message was delivered: a number of the sandbox's inbox, or what the mail server or operator gave."""
    inbox, _, number = text.partition(":")
    return f"message {number} in the sandbox inbox" if inbox == "captured" else text


def _channel(name: str) -> str:
    return _CHANNELS.get(name, name)


def _mode(name: str) -> str:
    return _MODES.get(name, name)


def _verdict(content: ProofContent) -> str:
    signers, documents = len(content.signers), len(content.documents)
    who = "The signer has" if signers == 1 else "Both signers have" if signers == 2 else f"All {signers} signers have"
    each = "after entering a one-time code" if signers == 1 else "each after entering a one-time code"
    what = "The signed document is" if documents == 1 else f"The {documents} signed documents are"
    return (
        f"{who} signed, {each}. The request was completed on {milliseconds(content.completed_at)}. "
        f"{what} sealed (PAdES) {_timestamps(content)}."
    )


def _remarks(noted: Mapping[str, Any]) -> str:
    """Writes the journal’s note on a document that can look different than on the signer’s page."""
    pages, unknown = noted.get("prints_differently", []), noted.get("print_unknown", 0)
    parts = []
    if pages:
        named = ", ".join(map(str, pages))
        parts.append(f"page {named} prints differently" if len(pages) == 1 else f"pages {named} print differently")
    if unknown:
        compared = (
            "page was not compared with its print" if unknown == 1 else "pages were not compared with their print"
        )
        parts.append(f"{unknown} {compared}")
    if noted.get("can_change"):
        parts.append("it has " + ", ".join(_PARTS.get(word, word) for word in noted["can_change"]))
    return f"document {noted.get('document_id')}: " + "; ".join(parts)


def _prepared(noted: Mapping[str, Any]) -> str:
    """Writes the journal’s note on a document that could not be sealed as it was uploaded."""
    return (
        f"document {noted.get('document_id')}: signers saw a form of it that can be sealed, "
        f"{noted.get('prepared_pdf_size')} bytes, SHA-256 {noted.get('prepared_pdf_sha256')}"
    )


def _timestamps(content: ProofContent) -> str:
    seals = [document.seal for document in content.documents]
    stamped = [seal for seal in seals if seal.timestamped_at is not None]
    if not stamped:
        return "without a timestamp, because no timestamp authority could be reached"
    names = " and ".join(sorted({seal.timestamp_authority for seal in stamped}))
    if len(stamped) == len(seals):
        return f"with an RFC 3161 timestamp of {names}" if len(seals) == 1 else f"with RFC 3161 timestamps of {names}"
    return f"and {len(stamped)} of {len(seals)} carry an RFC 3161 timestamp of {names}"


ENGLISH = ProofWords(
    language="en",
    title="Proof of signature",
    metadata=_METADATA,
    channels=_CHANNELS,
    modes=_MODES,
    values={"acknowledgement": _acknowledgement, "channel": _channel, "provider": _channel, "mode": _mode},
    labels={
        "request": "Request",
        "organization": "Requested by",
        "environment": "Environment",
        "mode": "Signing order",
        "created": "Created",
        "completed": "Completed",
        "issued": "Proof issued",
        "signers": "Signers",
        "documents": "Documents",
        "journal": "Audit journal",
        "verify": "How to verify",
        "signed": "Signed",
        "code": "One-time code",
        "origin": "From",
        "opened": "Page first opened",
        "refused": "Codes refused",
        "drawn": "drawn",
        "typed": "name, typed",
        "initials": "initials",
        "signed_documents": "Documents",
        "email": "E-mail",
        "policy": "policy",
        "pages": "Pages",
        "uploaded": "SHA-256 of the uploaded file",
        "sealed": "SHA-256 of the signed file",
        "seal": "Seal",
        "key": "Key",
        "timestamp": "RFC 3161 timestamp",
        "authority": "Timestamp issued by",
        "time": "Time",
        "event": "Event",
        "who": "Attributed to",
        "address": "IP address",
        "service": "Service",
        "last_hash": "Hash of the last entry",
        "sandbox": "Sandbox",
        "not_binding": "Made in the sandbox for testing: not legally binding.",
        "page": "Page",
        "of": "of",
        "check_online": "Check online",
        "journal_note": "All times are UTC, to the millisecond. Each entry carries the hash of the one before it, so "
        "that none can be changed, removed or added unnoticed.",
    },
    no_timestamp="No timestamp authority could be reached when this document was sealed. The seal is valid without, "
    "but its time is the service’s own.",
    transliterated="written in transliteration: no available font has every letter; evidence.json has the exact "
    "spelling",
    verdict=_verdict,
    remarks=_remarks,
    prepared=_prepared,
    steps=_STEPS,
)
