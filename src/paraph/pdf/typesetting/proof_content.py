"""The content of a proof file (rule 2.2, last paragraph)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from paraph.kernel.appearance import LogoPicture


@dataclass(frozen=True)
class ProofField:
    """A field that a signer filled in, or the service in their place. ``document``: the name of the document;
    ``text``: the value as it is printed, "" for what was left empty."""

    document: str
    label: str
    text: str


@dataclass(frozen=True)
class ProofSigner:
    """One signer. ``channel`` is "sms" or "email", ``destination`` the exact number or address that the one-time code
    went to, both "" for what was signed without one in the sandbox; ``documents``: the names of the documents that this
    signer signed.

    ``signature`` and ``initials`` are as on the stamps (:class:`paraph.pdf.typesetting.appearances.StampContent`).
    ``signature`` is None for who approved and drew nothing, ``initials`` also where the request wants none.
    ``opened_at`` and ``opened_ip``: when the signer's page was first opened and from where, None where nobody noted it;
    ``refused_codes``: when wrong codes were entered.
    ``fields``: in the order of reading.
    """

    name: str
    email: str
    order: int
    channel: str
    destination: str
    signed_at: datetime
    ip: str = ""
    user_agent: str = ""
    signature: Mapping[str, Any] | None = field(default_factory=lambda: {"type": "typed"})
    documents: Sequence[str] = ()
    initials: Mapping[str, Any] | None = None
    opened_at: datetime | None = None
    opened_ip: str = ""
    refused_codes: Sequence[datetime] = ()
    fields: Sequence[ProofField] = ()


@dataclass(frozen=True)
class ProofSeal:
    """The seal of a document. ``timestamped_at`` is None where no timestamp authority could be reached."""

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
    """One entry of the audit journal. ``signer`` is the full name, "" where the entry is about no single signer;
    ``title``: how this entry is called, "" for the title of its type (:attr:`ProofContent.event_titles`)."""

    position: int
    event_type: str
    at: datetime
    signer: str = ""
    ip: str = ""
    user_agent: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""


@dataclass(frozen=True)
class ProofContent:
    """Everything that the proof states. All times are aware.

    - ``environment``: "sandbox" or "production"; ``mode``: as in rule 2.2;
    - ``journal_hash``: the hash of the last entry of ``journal``, in hexadecimal;
    - ``evidence``: plain JSON, attached as evidence.json;
    - ``locale``: the language of headings and sentences, one of :data:`paraph.words.LOCALES`; English for others;
    - ``event_titles``: how an event is called, by its ``event_type``; without a title the type is shown;
    - ``sender_events``: the event types that are attributed to the organization where no signer is named; others are
      attributed to the service;
    - ``logo``: that of the branding profile.
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
    locale: str = "en"
    event_titles: Mapping[str, str] = field(default_factory=dict)
    sender_events: Collection[str] = ()
    logo: LogoPicture | None = None
