"""The shapes of answers, for the OpenAPI document (specification 2)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from paraph.api.v1.openapi.preflight_schemas import Preflight
from paraph.signature_requests.input import MOST_DOCUMENTS, MOST_ORDER, MOST_SIGNERS, MOST_VALIDITY_DAYS
from paraph.signature_requests.values import LARGEST_ID, LONGEST_EMAIL, LONGEST_NAME

_BIG: Any = {"format": "int64"}
_URI: Any = {"format": "uri"}
_MOMENT: Any = {"format": "date-time"}
SECOND = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"
SHA256 = "^[0-9a-f]{64}$"

Id = Annotated[int, Field(ge=1, le=LARGEST_ID, json_schema_extra=_BIG)]
Timestamp = Annotated[
    str,
    Field(pattern=SECOND, min_length=20, max_length=20, json_schema_extra=_MOMENT, examples=["2030-05-17T08:30:12Z"]),
]
Url = Annotated[str, Field(min_length=1, json_schema_extra=_URI)]
Color = Annotated[str, Field(pattern="^#[0-9a-fA-F]{6}$", min_length=7, max_length=7)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Digest = Annotated[str, Field(pattern=SHA256, min_length=64, max_length=64)]


class Document(BaseModel):
    """An uploaded PDF."""

    id: Id = Field(description="Identifies the document in its environment.")
    content_type: Literal["pdf"] = Field(description="Always `pdf`.")
    sha256_hash: Digest = Field(description="SHA-256 of the uploaded file in hexadecimal, computed by the service.")
    file_size: int = Field(description="Bytes.", ge=1, json_schema_extra=_BIG)
    status: Literal["pending", "ready"] = Field(description="`ready` once the file can be used and downloaded.")
    created_at: Timestamp = Field(description="When it was uploaded.")


class UploadedDocument(Document):
    """A document as its upload answers it."""

    preflight: Preflight | None = Field(
        description="What the file holds: pages, encryption, signatures, forms, scripts. Null for a document that was "
        "taken in before reports were kept."
    )


class DocumentWithDownload(UploadedDocument):
    """A document read by its id."""

    download_url: Url | None = Field(
        description="Presigned address of the uploaded file, valid for 15 minutes; null while it is `pending`, and "
        "once the file is deleted by the organization's retention."
    )


class BrandingProfile(BaseModel):
    """Colours of the signer's pages. Profiles are made, changed and deleted in the dashboard; the API reads them. A
    deleted one is listed no more and cannot be named in new requests; requests that have it keep it."""

    id: Id = Field(description="What `branding_profile_id` names.")
    name: Name = Field(description="The name that the list is sorted by.")
    background_color: Color = Field(description="Background of the signer's pages.", examples=["#f6f4ee"])
    text_color: Color = Field(description="Text on that background.", examples=["#1c1b19"])
    accent_color: Color = Field(description="Buttons and marks.", examples=["#1d4ed8"])


class Delivery(BaseModel):
    """What became of an invitation that is not out."""

    put_off_until: Timestamp = Field(
        description="As many messages as may go to this address, or as your organization may send, were sent. The "
        "invitation is tried again at this time by itself."
    )


class Signer(BaseModel):
    """A signer of a request. The `ref` given at creation is not kept and not returned."""

    id: Id = Field(description="Identifies the signer; what `signer_id` of the audit log names.")
    first_name: Name = Field(description="As given at creation.")
    last_name: Name = Field(description="As given at creation.")
    full_name: str = Field(min_length=3, max_length=2 * LONGEST_NAME + 1, description="First name, space, last name.")
    email: str = Field(
        min_length=3,
        max_length=LONGEST_EMAIL,
        description="As given at creation.",
        json_schema_extra={"format": "email"},
    )
    order: int = Field(description="Signing order; in `parallel` mode the position at creation.", ge=1, le=MOST_ORDER)
    status: Literal["pending", "notified", "signed"] = Field(
        description="`notified` once the invitation was really sent by e-mail; `signed` once the signer has signed."
    )
    signed_at: Timestamp | None = Field(description="Null until the signer has signed.")
    signing_url: Url | None = Field(
        description="Personal address of the signing page, valid until the request expires; null once signed. "
        "It must reach this signer and nobody else."
    )
    delivery: Delivery | None = Field(description="Null unless the invitation is put off by a ceiling of messages.")


class CreatedSignatureRequest(BaseModel):
    """A signature request as creation answers it."""

    id: Id = Field(description="Identifies the request in its environment.")
    mode: Literal["sequential", "parallel"] = Field(description="Whether signers sign in turn or in any order.")
    status: Literal["pending", "completed", "expired"] = Field(
        description="`completed` once everybody has signed. The results come later: see `finalized`."
    )
    validity_days: int = Field(ge=1, le=MOST_VALIDITY_DAYS, description="Days from `created_at` to `expires_at`.")
    initials_required: bool = Field(description="Whether each signer also puts initials on each page.")
    notify_signers_on_completion: bool = Field(description="Whether signers get a summary by e-mail at completion.")
    expires_at: Timestamp = Field(description="From this second on nobody can sign: `created_at` plus `validity_days`.")
    created_at: Timestamp = Field(description="When the request was created.")
    document_ids: list[Id] = Field(
        min_length=1, max_length=MOST_DOCUMENTS, description="The documents, in the order given at creation."
    )
    signers: list[Signer] = Field(min_length=1, max_length=MOST_SIGNERS, description="The signers, by `order`.")
    branding_profile: BrandingProfile | None = Field(description="Null when the default colours are used.")


class ListedSignatureRequest(CreatedSignatureRequest):
    """A signature request as lists show it."""

    finalized: bool = Field(
        description="True once the sealed documents and the proof file can be downloaded. Wait for this, not for "
        "`status`."
    )


class DownloadUrls(BaseModel):
    """Where the results of one document lie. Reading the request again gives fresh addresses."""

    document_id: Id = Field(description="The document as uploaded.")
    signed_url: Url = Field(description="Presigned address of the sealed PDF.")
    certificate_url: Url = Field(description="Presigned address of the proof file; the same in every entry.")
    expires_in: Literal[900] = Field(description="Seconds for which both addresses work.")


class SignatureRequest(ListedSignatureRequest):
    """A signature request read by its id."""

    download_urls: list[DownloadUrls] = Field(
        default_factory=list,
        max_length=MOST_DOCUMENTS,
        description="One entry per document, in their order. Present only when the request is `completed` and "
        "`finalized`; empty once the files are deleted by the organization's retention.",
    )


class Pagination(BaseModel):
    """Where in the collection this page is."""

    page: int = Field(ge=1, description="The page that was applied.", json_schema_extra=_BIG)
    limit: int = Field(ge=1, le=100, description="The limit that was applied.")
    count: int = Field(ge=0, description="Entries over all pages.", json_schema_extra=_BIG)
    pages: int = Field(ge=0, description="Pages at this limit; 0 when there are no entries.", json_schema_extra=_BIG)


class Documents(BaseModel):
    """A page of documents."""

    data: list[Document] = Field(max_length=100, description="The entries of the page; empty beyond the last.")
    pagination: Pagination


class SignatureRequests(BaseModel):
    """A page of signature requests."""

    data: list[ListedSignatureRequest] = Field(
        max_length=100, description="The entries of the page; empty beyond the last."
    )
    pagination: Pagination


class BrandingProfiles(BaseModel):
    """A page of branding profiles."""

    data: list[BrandingProfile] = Field(max_length=100, description="The entries of the page, sorted by name.")
    pagination: Pagination


class Health(BaseModel):
    """The service answers."""

    status: Literal["ok"] = Field(description="Always `ok`: whoever reads it was answered.")
    environment: Literal["sandbox", "production"] = Field(description="The environment that the key belongs to.")
    version: str = Field(min_length=1, description="Version of the service.", examples=["0.1.0"])
    time: Timestamp = Field(description="The service's clock, in UTC.")


class ErrorBody(BaseModel):
    """What was refused, and why."""

    code: Literal[
        "invalid_api_key",
        "payment_required",
        "forbidden",
        "initials_not_available_on_plan",
        "not_found",
        "method_not_allowed",
        "request_timeout",
        "payload_too_large",
        "unsupported_media_type",
        "identity_declaration_required",
        "validation_error",
        "rate_limited",
        "unavailable",
        "insufficient_storage",
        "internal_error",
    ] = Field(description="What to decide by. Codes never change.")
    message: str = Field(
        min_length=1, description="For a person: one or more sentences in the language of Accept-Language."
    )


class Error(BaseModel):
    """The one shape of everything refused."""

    error: ErrorBody
