"""The proof file of a request, before it is sealed (specification 2.2, last paragraph)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from paraph.pdf.typesetting.proof_template_data import page
from paraph.pdf.typesetting.typeset import typeset


@dataclass(frozen=True)
class ProofSigner:
    """One signer. ``channel`` is "sms" or "email", ``destination`` exactly where the one-time code went;
    ``documents``: the names of those this signer signed."""

    name: str
    email: str
    order: int
    channel: str
    destination: str
    signed_at: datetime
    ip: str = ""
    user_agent: str = ""
    signature_type: str = "typed"
    documents: Sequence[str] = ()


@dataclass(frozen=True)
class ProofSeal:
    """The seal of a document. ``timestamped_at`` is None when no timestamp authority could be reached."""

    algorithm: str
    key_id: str
    sealed_at: datetime
    timestamped_at: datetime | None = None
    timestamp_authority: str = ""
    timestamp_policy_oid: str = ""


@dataclass(frozen=True)
class ProofDocument:
    """One document with the SHA-256 digests (hexadecimal) of the uploaded and of the signed file."""

    document_id: int
    name: str
    page_count: int
    uploaded_sha256: str
    signed_sha256: str
    seal: ProofSeal


@dataclass(frozen=True)
class JournalLine:
    """One entry of the audit journal. ``signer`` is the full name, "" where the entry is about no one signer."""

    position: int
    event_type: str
    at: datetime
    signer: str = ""
    ip: str = ""
    user_agent: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ProofContent:
    """Everything the proof states. All times are aware; ``evidence`` is plain JSON, attached as evidence.json.

    ``journal_hash``: hash of the last of ``journal``'s entries (hexadecimal). ``verification_url``: where the public
    can check, "" for nowhere. ``environment`` is "sandbox" or "production", ``mode`` as in specification 2.2.
    """

    request_id: int
    organization: str
    environment: str
    mode: str
    created_at: datetime
    completed_at: datetime
    issued_at: datetime
    signers: Sequence[ProofSigner]
    documents: Sequence[ProofDocument]
    journal: Sequence[JournalLine]
    journal_hash: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    verification_url: str = ""
    locale: str = "en"


def proof(content: ProofContent) -> bytes:
    """The proof as PDF/A-3b with evidence.json attached. The same content gives the same bytes."""
    return typeset("proof", page(content), standard="a-3b", at=content.issued_at.replace(microsecond=0))
