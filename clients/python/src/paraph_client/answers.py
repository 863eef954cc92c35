"""What the service answers. Fields that this version does not know are ignored, as the API asks of its clients."""

from dataclasses import dataclass, field
from datetime import datetime

from paraph_client.call import Json
from paraph_client.preflight import Preflight


@dataclass(frozen=True)
class Document:
    """``download_url`` only when read by id; valid 15 minutes. ``preflight``, when uploaded or read by id: what the
    file holds."""

    id: int
    content_type: str
    sha256_hash: str
    file_size: int
    status: str
    created_at: datetime
    download_url: str | None = None
    preflight: Preflight | None = None


@dataclass(frozen=True)
class Tag:
    """A text of a document under which a stamp can stand, and its place in points, origin at the bottom left."""

    tag: str
    page_number: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class FailedDelivery:
    """A message that was refused for good. ``reason`` says what the mail server or SMS gateway said."""

    reason: str
    at: datetime


@dataclass(frozen=True)
class Delivery:
    """An invitation that waits for room below a ceiling of messages, and is tried again at ``put_off_until``; or what
    was ``failed``: correct the signer, or remind them to have it sent again."""

    put_off_until: datetime | None = None
    failed: FailedDelivery | None = None


@dataclass(frozen=True)
class Field:
    """A field of a signer. ``value`` is None until they have signed, where nothing was entered, and once their data are
    erased; a date is ``YYYY-MM-DD``, a number has a point, a checkbox is True where it is ticked."""

    document_id: int
    name: str
    type: str
    label: str
    value: str | bool | None


@dataclass(frozen=True)
class Copy:
    """Who gets a copy."""

    first_name: str
    last_name: str
    email: str
    delivery: Delivery | None = None


@dataclass(frozen=True)
class Signer:
    """``signing_url`` is personal and becomes None once the signer has signed. ``delivery`` is None unless the
    invitation is put off, or a message was refused for good.
    ``role`` is "signer" or "approver". ``language`` is None unless you named one."""

    id: int
    first_name: str
    last_name: str
    full_name: str
    email: str
    order: int
    status: str
    signed_at: datetime | None
    signing_url: str | None
    delivery: Delivery | None = None
    role: str = "signer"
    fields: list[Field] = field(default_factory=list)
    language: str | None = None


@dataclass(frozen=True)
class BrandingProfile:
    """Colours are hexadecimal, ``#rrggbb``."""

    id: int
    name: str
    background_color: str
    text_color: str
    accent_color: str


@dataclass(frozen=True)
class DownloadUrls:
    """The sealed document and the proof file, for ``expires_in`` seconds."""

    document_id: int
    signed_url: str
    certificate_url: str
    expires_in: int


@dataclass(frozen=True)
class EvidenceBundle:
    """All evidence of a request in one archive, for ``expires_in`` seconds."""

    evidence_url: str
    expires_in: int


@dataclass(frozen=True)
class Reminders:
    """``every_days`` after the invitation or the reminder before, whoever's turn it is gets another, ``at_most`` so
    often."""

    every_days: int
    at_most: int


@dataclass(frozen=True)
class SignatureRequest:
    """``finalized`` is None where the service does not say (at creation); wait for it, not for ``status``.
    ``ended_early`` and ``ended_reason`` say that somebody ended the request before its time, and why; ``declined_by``
    is the id of the signer who did by declining."""

    id: int
    mode: str
    status: str
    validity_days: int
    initials_required: bool
    notify_signers_on_completion: bool
    expires_at: datetime
    created_at: datetime
    document_ids: list[int]
    signers: list[Signer]
    branding_profile: BrandingProfile | None
    finalized: bool | None = None
    download_urls: list[DownloadUrls] = field(default_factory=list)
    external_id: str | None = None
    metadata: dict[str, str] | None = None
    redirect_url: str | None = None
    reminders: Reminders | None = None
    ended_early: bool = False
    ended_reason: str | None = None
    copies: list[Copy] = field(default_factory=list)
    decline_allowed: bool = False
    declined_by: int | None = None


@dataclass(frozen=True)
class Problem:
    """Why a creation would be refused: where in its body, and in words."""

    path: str
    code: str
    message: str


@dataclass(frozen=True)
class PreviewWarning:
    """What a creation would pass over: a field that it does not know."""

    path: str
    message: str


@dataclass(frozen=True)
class StampPlace:
    """Where a stamp would stand; ``stamp`` counts from 0 within the signer's stamps on that document."""

    document_id: int
    signer_ref: str
    stamp: int
    page_number: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class FieldPlace:
    """Where a field would stand; ``field`` counts from 0 within the signer's fields on that document."""

    document_id: int
    signer_ref: str
    field: int
    name: str
    page_number: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Preview:
    """What a creation would do: all that is wrong with it, what it would pass over, and where stamps and fields would
    stand."""

    valid: bool
    problems: list[Problem]
    placements: list[StampPlace]
    fields: list[FieldPlace] = field(default_factory=list)
    warnings: list[PreviewWarning] = field(default_factory=list)


@dataclass(frozen=True)
class AuditLogEntry:
    """``metadata`` has other keys for other event types."""

    id: int
    event_type: str
    signer_id: int | None
    ip: str
    user_agent: str
    metadata: Json
    created_at: datetime


@dataclass(frozen=True)
class Template:
    """What requests are made of again and again, with ``roles`` instead of signers. ``roles`` and ``documents`` are as
    they were given, ``options`` what else its requests are told."""

    id: int
    name: str
    mode: str
    validity_days: int
    roles: list[Json]
    documents: list[Json]
    created_at: datetime
    options: Json


@dataclass(frozen=True)
class Draft:
    """What a person looks at under ``review_url`` and sends or discards. ``status`` is "open", "sent" or
    "discarded"."""

    id: int
    review_url: str
    status: str = "open"
    signature_request_id: int | None = None


@dataclass(frozen=True)
class EventRequest:
    """The request that an event is about, as it was at that moment."""

    id: int
    status: str
    mode: str


@dataclass(frozen=True)
class EventSigner:
    """The signer whom an event is about, as of that moment."""

    id: int
    first_name: str
    last_name: str
    full_name: str
    email: str
    status: str


@dataclass(frozen=True)
class EventDocument:
    """A sealed document, for ``expires_in`` seconds."""

    document_id: int
    signed_url: str
    expires_in: int


@dataclass(frozen=True)
class Event:
    """``payload`` is all that the webhook posts, whose header ``X-Service-Event-Id`` has the same ``id``. ``signer`` is
    there in "signer.…", ``documents`` and ``certificate_url`` in "request.completed", ``metadata`` in
    "request.expired" where somebody ended the request."""

    id: int
    event: str
    occurred_at: datetime
    signature_request: EventRequest
    payload: Json
    signer: EventSigner | None = None
    documents: list[EventDocument] = field(default_factory=list)
    certificate_url: str | None = None
    metadata: Json | None = None


@dataclass(frozen=True)
class Health:
    status: str
    environment: str
    version: str
    time: datetime
