"""The operations of the API, as the OpenAPI document lists them. What a call does stands beside its view; which view
answers it, in the URL map."""

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from paraph.api.v1.audit_logs.output import AuditLogs
from paraph.api.v1.branding_profiles import BrandingProfiles
from paraph.api.v1.documents.output import Documents, DocumentWithDownload, UploadedDocument
from paraph.api.v1.documents.tags import DocumentTags
from paraph.api.v1.drafts import CreatedDraft, Draft
from paraph.api.v1.events.output import Events
from paraph.api.v1.health import Health
from paraph.api.v1.openapi.parts import (
    CREATION,
    DECLINE_ACT,
    DOCUMENT_LIST,
    DOCUMENT_TAGS,
    DRAFT_CREATION,
    END,
    EVENT_LIST,
    KEYED,
    PAGED,
    PREVIEW,
    REQUEST_LIST,
    SIGN_ACT,
    TEMPLATE_CREATION,
    TEMPLATE_SENDING,
    UPLOAD,
)
from paraph.api.v1.signature_requests.output import (
    CreatedSignatureRequest,
    SignatureRequest,
    SignatureRequests,
    Signer,
)
from paraph.api.v1.signature_requests.preview import Preview
from paraph.api.v1.templates.output import Template, Templates


@dataclass(frozen=True)
class Operation:
    """``path`` begins after ``/api/v1``. ``answer`` is the shape of the one answer that is no refusal; ``None`` where
    that has no body. ``accepts``: the parameters of the query and the body."""

    name: str
    method: str
    path: str
    tag: str
    answer: type[BaseModel] | None
    status: int = 200
    accepts: dict[str, Any] = field(default_factory=dict)


_DOCUMENT = "/documents/{document_id}"
_REQUEST = "/signature_requests/{request_id}"
_AUDIT_LOGS = "/signature_requests/{signature_request_id}/audit_logs"
_REQUESTS = "Signature requests"
_TEMPLATE = "/templates/{template_id}"
_TEMPLATES = "Templates"
_ACTS, _SIGNER = "Sandbox acts", f"/sandbox{_REQUEST}/signers/{{signer_id}}"

OPERATIONS = [
    Operation("uploadDocument", "post", "/documents", "Documents", UploadedDocument, 201, UPLOAD),
    Operation("listDocuments", "get", "/documents", "Documents", Documents, accepts=DOCUMENT_LIST),
    Operation("readDocument", "get", _DOCUMENT, "Documents", DocumentWithDownload),
    Operation("listDocumentTags", "get", f"{_DOCUMENT}/tags", "Documents", DocumentTags, accepts=DOCUMENT_TAGS),
    Operation(
        "createSignatureRequest",
        "post",
        "/signature_requests",
        _REQUESTS,
        CreatedSignatureRequest,
        201,
        CREATION,
    ),
    Operation("previewSignatureRequest", "post", "/signature_requests/preview", _REQUESTS, Preview, accepts=PREVIEW),
    Operation(
        "listSignatureRequests",
        "get",
        "/signature_requests",
        _REQUESTS,
        SignatureRequests,
        accepts=REQUEST_LIST,
    ),
    Operation("readSignatureRequest", "get", _REQUEST, _REQUESTS, SignatureRequest),
    Operation("endSignatureRequest", "post", f"{_REQUEST}/end", _REQUESTS, SignatureRequest, accepts=END),
    Operation("remindSigner", "post", f"{_REQUEST}/signers/{{signer_id}}/remind", _REQUESTS, Signer, accepts=KEYED),
    Operation("listAuditLogs", "get", _AUDIT_LOGS, _REQUESTS, AuditLogs, accepts=PAGED),
    Operation("createTemplate", "post", "/templates", _TEMPLATES, Template, 201, TEMPLATE_CREATION),
    Operation("listTemplates", "get", "/templates", _TEMPLATES, Templates, accepts=PAGED),
    Operation("readTemplate", "get", _TEMPLATE, _TEMPLATES, Template),
    Operation("deleteTemplate", "delete", _TEMPLATE, _TEMPLATES, None, 204),
    Operation(
        "sendTemplate",
        "post",
        f"{_TEMPLATE}/signature_requests",
        _TEMPLATES,
        CreatedSignatureRequest,
        201,
        TEMPLATE_SENDING,
    ),
    Operation("createDraft", "post", "/drafts", "Drafts", CreatedDraft, 201, DRAFT_CREATION),
    Operation("readDraft", "get", "/drafts/{draft_id}", "Drafts", Draft),
    Operation("listEvents", "get", "/events", "Events", Events, accepts=EVENT_LIST),
    Operation(
        "listBrandingProfiles",
        "get",
        "/branding_profiles",
        "Branding profiles",
        BrandingProfiles,
        accepts=PAGED,
    ),
    Operation("sandboxSign", "post", f"{_SIGNER}/sign", _ACTS, SignatureRequest, accepts=SIGN_ACT),
    Operation("sandboxExpire", "post", f"/sandbox{_REQUEST}/expire", _ACTS, SignatureRequest, accepts=KEYED),
    Operation("sandboxDecline", "post", f"{_SIGNER}/decline", _ACTS, SignatureRequest, accepts=DECLINE_ACT),
    Operation("readHealth", "get", "/health", "Service", Health),
]
