"""The shapes of answers, for the OpenAPI document (specification 2)."""

from typing import Any, Literal

from ninja import Field, Schema

TIMESTAMP = Field(examples=["2026-01-31T09:30:00Z"], pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
COLOR = Field(examples=["#1a2b3c"])


class Document(Schema):
    id: int
    content_type: Literal["pdf"]
    sha256_hash: str = Field(description="SHA-256 of the uploaded file.", pattern="^[0-9a-f]{64}$")
    file_size: int = Field(description="Bytes.", ge=0)
    status: Literal["pending", "ready"]
    created_at: str = TIMESTAMP


class DocumentWithDownload(Document):
    download_url: str | None = Field(
        description="Presigned address of the uploaded file, valid for 15 minutes; null while it is pending."
    )


class BrandingProfile(Schema):
    id: int
    name: str
    background_color: str = COLOR
    text_color: str = COLOR
    accent_color: str = COLOR


class Signer(Schema):
    id: int
    first_name: str
    last_name: str
    full_name: str
    email: str
    order: int = Field(description="Signing order; in parallel mode the position in the payload.", ge=1)
    status: Literal["pending", "notified", "signed"]
    signed_at: str | None = TIMESTAMP
    signing_url: str | None = Field(description="Personal address of the signing page; null once signed.")


class CreatedSignatureRequest(Schema):
    id: int
    mode: Literal["sequential", "parallel"]
    status: Literal["pending", "completed", "expired"]
    validity_days: int = Field(ge=1, le=90)
    initials_required: bool
    notify_signers_on_completion: bool
    expires_at: str = TIMESTAMP
    created_at: str = TIMESTAMP
    document_ids: list[int]
    signers: list[Signer]
    branding_profile: BrandingProfile | None


class ListedSignatureRequest(CreatedSignatureRequest):
    finalized: bool = Field(description="True once the sealed documents and the proof file can be downloaded.")


class DownloadUrls(Schema):
    document_id: int
    signed_url: str
    certificate_url: str = Field(description="The proof file; the same in every entry.")
    expires_in: Literal[900]


class SignatureRequest(ListedSignatureRequest):
    download_urls: list[DownloadUrls] = Field(
        default_factory=list, description="Present only when the request is completed and finalized."
    )


class AuditLog(Schema):
    id: int
    event_type: Literal[
        "signature_request.created",
        "signature_request.identity_declared",
        "signer.notified",
        "signer.otp_sent",
        "signer.signed",
        "request.completed",
        "request.completion_notified",
        "request.expired",
        "signature_request.pades_signed",
        "signature_request.certificate_issued",
    ]
    signer_id: int | None
    ip: str
    user_agent: str
    metadata: dict[str, Any]
    created_at: str = TIMESTAMP


class Pagination(Schema):
    page: int = Field(ge=1)
    limit: int = Field(ge=1, le=100)
    count: int = Field(ge=0, description="Entries over all pages.")
    pages: int = Field(ge=0)


class Documents(Schema):
    data: list[Document]
    pagination: Pagination


class SignatureRequests(Schema):
    data: list[ListedSignatureRequest]
    pagination: Pagination


class AuditLogs(Schema):
    data: list[AuditLog]
    pagination: Pagination


class BrandingProfiles(Schema):
    data: list[BrandingProfile]
    pagination: Pagination


class Health(Schema):
    status: Literal["ok"]
    environment: Literal["sandbox", "production"]
    version: str
    time: str = TIMESTAMP


class ErrorBody(Schema):
    code: Literal[
        "invalid_api_key",
        "payment_required",
        "forbidden",
        "initials_not_available_on_plan",
        "not_found",
        "method_not_allowed",
        "payload_too_large",
        "unsupported_media_type",
        "identity_declaration_required",
        "validation_error",
        "rate_limited",
        "internal_error",
    ]
    message: str = Field(description="A sentence in the language of Accept-Language.")


class Error(Schema):
    error: ErrorBody
