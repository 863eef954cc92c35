"""What the service answers. Fields that this version does not know are ignored, as the API asks of its clients."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from paraph_client.preflight import Preflight

T = TypeVar("T")
Json = dict[str, Any]


def _time(value: str | None) -> datetime | None:
    return datetime.fromisoformat(value) if value else None


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

    @classmethod
    def parse(cls, body: Json) -> "Document":
        return cls(
            id=body["id"],
            content_type=body["content_type"],
            sha256_hash=body["sha256_hash"],
            file_size=body["file_size"],
            status=body["status"],
            created_at=datetime.fromisoformat(body["created_at"]),
            download_url=body.get("download_url"),
            preflight=body.get("preflight"),
        )


@dataclass(frozen=True)
class Delivery:
    """An invitation that waits for room below a ceiling of messages, and is tried again at ``put_off_until``."""

    put_off_until: datetime

    @classmethod
    def parse(cls, body: Json) -> "Delivery":
        return cls(datetime.fromisoformat(body["put_off_until"]))


@dataclass(frozen=True)
class Signer:
    """``signing_url`` is personal and becomes None once the signer has signed. ``delivery`` is None unless the
    invitation is put off."""

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

    @classmethod
    def parse(cls, body: Json) -> "Signer":
        return cls(
            id=body["id"],
            first_name=body["first_name"],
            last_name=body["last_name"],
            full_name=body["full_name"],
            email=body["email"],
            order=body["order"],
            status=body["status"],
            signed_at=_time(body["signed_at"]),
            signing_url=body["signing_url"],
            delivery=Delivery.parse(body["delivery"]) if body.get("delivery") else None,
        )


@dataclass(frozen=True)
class BrandingProfile:
    """Colours are hexadecimal, ``#rrggbb``."""

    id: int
    name: str
    background_color: str
    text_color: str
    accent_color: str

    @classmethod
    def parse(cls, body: Json) -> "BrandingProfile":
        return cls(body["id"], body["name"], body["background_color"], body["text_color"], body["accent_color"])


@dataclass(frozen=True)
class DownloadUrls:
    """The sealed document and the proof file, for ``expires_in`` seconds."""

    document_id: int
    signed_url: str
    certificate_url: str
    expires_in: int

    @classmethod
    def parse(cls, body: Json) -> "DownloadUrls":
        return cls(body["document_id"], body["signed_url"], body["certificate_url"], body["expires_in"])


@dataclass(frozen=True)
class SignatureRequest:
    """``finalized`` is None where the service does not say (at creation); wait for it, not for ``status``."""

    id: int
    mode: str
    status: str
    finalized: bool | None
    validity_days: int
    initials_required: bool
    notify_signers_on_completion: bool
    expires_at: datetime
    created_at: datetime
    document_ids: list[int]
    signers: list[Signer]
    branding_profile: BrandingProfile | None
    download_urls: list[DownloadUrls] = field(default_factory=list)

    @classmethod
    def parse(cls, body: Json) -> "SignatureRequest":
        profile = body["branding_profile"]
        return cls(
            id=body["id"],
            mode=body["mode"],
            status=body["status"],
            finalized=body.get("finalized"),
            validity_days=body["validity_days"],
            initials_required=body["initials_required"],
            notify_signers_on_completion=body["notify_signers_on_completion"],
            expires_at=datetime.fromisoformat(body["expires_at"]),
            created_at=datetime.fromisoformat(body["created_at"]),
            document_ids=body["document_ids"],
            signers=[Signer.parse(signer) for signer in body["signers"]],
            branding_profile=BrandingProfile.parse(profile) if profile else None,
            download_urls=[DownloadUrls.parse(urls) for urls in body.get("download_urls", [])],
        )


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

    @classmethod
    def parse(cls, body: Json) -> "AuditLogEntry":
        return cls(
            id=body["id"],
            event_type=body["event_type"],
            signer_id=body["signer_id"],
            ip=body["ip"],
            user_agent=body["user_agent"],
            metadata=body["metadata"],
            created_at=datetime.fromisoformat(body["created_at"]),
        )


@dataclass(frozen=True)
class Health:
    status: str
    environment: str
    version: str
    time: datetime

    @classmethod
    def parse(cls, body: Json) -> "Health":
        return cls(body["status"], body["environment"], body["version"], datetime.fromisoformat(body["time"]))


@dataclass(frozen=True)
class Pagination:
    page: int
    limit: int
    count: int
    pages: int


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a collection."""

    data: list[T]
    pagination: Pagination

    @classmethod
    def parser(cls, entry: Callable[[Json], T]) -> "Callable[[Json], Page[T]]":
        """A parser of envelopes whose entries ``entry`` parses."""

        def parse(body: Json) -> "Page[T]":
            shape = body["pagination"]
            pagination = Pagination(shape["page"], shape["limit"], shape["count"], shape["pages"])
            return Page([entry(item) for item in body["data"]], pagination)

        return parse
