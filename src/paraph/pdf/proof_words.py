"""The sentences of the proof. English is the one language so far; another is another instance of :class:`Words`."""

from collections.abc import Mapping
from dataclasses import dataclass

EVENTS = {
    "signature_request.created": "Request created",
    "signature_request.identity_declared": "Identity of the signers declared by the sender",
    "signer.notified": "Invitation sent",
    "signer.otp_sent": "One-time code sent",
    "signer.signed": "Signed",
    "request.completed": "Request completed: everyone has signed",
    "request.completion_notified": "Summary of completion sent",
    "request.expired": "Request expired",
    "signature_request.pades_signed": "PAdES seal applied to a document",
    "signature_request.certificate_issued": "Proof file issued and sealed",
}
SENDERS_EVENTS = frozenset({"signature_request.created", "signature_request.identity_declared"})
METADATA = {
    "mode": "signing order",
    "signers_count": "signers",
    "channel": "channel",
    "recipients": "sent to",
    "expires_at": "expired at",
    "document_id": "document",
    "method": "sealed by",
    "timestamp_failures": "authorities that failed",
    "provider": "channel",
    "recipient": "sent to",
    "resend": "sent again",
    "acknowledgement": "operator's acknowledgement",
    "consent_notice": "consent text accepted",
    "documents_count": "documents signed",
    "locale": "language",
    "signed_pdf_sha256": "SHA-256 of the signed file",
    "signing_algorithm": "seal algorithm",
    "kms_key_id": "key",
    "kms_request_id": "key request",
    "timestamped": "timestamped",
    "timestamp_authority": "timestamp authority",
    "timestamp_policy_oid": "timestamp policy",
    "timestamped_at": "timestamp",
    "certificate_sha256": "SHA-256 of the proof file",
}


@dataclass(frozen=True)
class Words:
    """Labels and readable names of one language; what is not in a table is shown as it is in the journal."""

    title: str
    events: Mapping[str, str]
    metadata: Mapping[str, str]
    channels: Mapping[str, str]
    modes: Mapping[str, str]
    labels: Mapping[str, str]
    no_timestamp: str
    transliterated: str

    def event(self, event_type: str) -> str:
        return self.events.get(event_type, event_type)

    def key(self, name: str) -> str:
        return self.metadata.get(name, name.replace("_", " "))


ENGLISH = Words(
    title="Proof of signature",
    events=EVENTS,
    metadata=METADATA,
    channels={"sms": "SMS", "email": "e-mail"},
    modes={"sequential": "one after the other", "parallel": "in any order"},
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
    "but its time is the service's own.",
    transliterated="written in transliteration: no available font has every letter; evidence.json has the exact "
    "spelling",
)

_LANGUAGES = {"en": ENGLISH}


def words(locale: str) -> Words:
    return _LANGUAGES.get(locale.replace("_", "-").split("-")[0].lower(), ENGLISH)
