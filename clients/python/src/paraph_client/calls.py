"""The calls of the API, each as data: what to send and how to read the answer. Both clients run these."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import httpx

from paraph_client.errors import ParaphError
from paraph_client.inputs import DocumentInput, SignerInput
from paraph_client.models import AuditLogEntry, BrandingProfile, Document, Health, Page, SignatureRequest

T = TypeVar("T")
Json = dict[str, Any]
MIME = "application/pdf"
USER_AGENT = "paraph-client/0.1.0"


@dataclass(frozen=True)
class Call(Generic[T]):
    """``options`` are keyword arguments of ``httpx.Client.request``."""

    method: str
    path: str
    parse: Callable[[Json], T]
    options: Json = field(default_factory=dict)

    def read(self, answer: httpx.Response) -> T:
        """Raises :class:`ParaphError` for anything but a success."""
        if answer.is_success:
            return self.parse(answer.json())
        try:
            error = answer.json()["error"]
            code, message = error["code"], error["message"]
        except (ValueError, KeyError, TypeError):
            code, message = "unexpected_answer", f"The service answered {answer.status_code} without an error body."
        raise ParaphError(answer.status_code, code, message, answer.headers.get("X-Request-Id", ""))


def passes(answer: httpx.Response) -> bool:
    """Whether the call was refused for a while only, and nothing was done: 429, or 503 ``unavailable``."""
    if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        return _code(answer) == "unavailable"
    return answer.status_code == httpx.codes.TOO_MANY_REQUESTS


def retry_after(answer: httpx.Response) -> float:
    """Seconds to wait before the next try after a refusal that passes."""
    try:
        return max(0.0, float(answer.headers.get("Retry-After", "1")))
    except ValueError:
        return 1.0


def health() -> Call[Health]:
    return Call("GET", "health", Health.parse)


def upload_document(content: bytes, name: str) -> Call[Document]:
    return Call("POST", "documents", Document.parse, {"files": {"file": (name, content, MIME)}})


def document(document_id: int) -> Call[Document]:
    return Call("GET", f"documents/{document_id}", Document.parse)


def documents(**parameters: Any) -> Call[Page[Document]]:
    return Call("GET", "documents", Page.parser(Document.parse), _query(parameters))


def create_signature_request(
    signers: Sequence[SignerInput], documents: Sequence[DocumentInput], fields: Json
) -> Call[SignatureRequest]:
    body = {name: value for name, value in fields.items() if value is not None} | {
        "signers": [signer.body() for signer in signers],
        "documents": [item.body() for item in documents],
    }
    return Call("POST", "signature_requests", SignatureRequest.parse, {"json": {"signature_request": body}})


def signature_request(request_id: int) -> Call[SignatureRequest]:
    return Call("GET", f"signature_requests/{request_id}", SignatureRequest.parse)


def signature_requests(**parameters: Any) -> Call[Page[SignatureRequest]]:
    return Call("GET", "signature_requests", Page.parser(SignatureRequest.parse), _query(parameters))


def audit_logs(request_id: int, **parameters: Any) -> Call[Page[AuditLogEntry]]:
    path = f"signature_requests/{request_id}/audit_logs"
    return Call("GET", path, Page.parser(AuditLogEntry.parse), _query(parameters))


def branding_profiles(**parameters: Any) -> Call[Page[BrandingProfile]]:
    return Call("GET", "branding_profiles", Page.parser(BrandingProfile.parse), _query(parameters))


def _code(answer: httpx.Response) -> str | None:
    try:
        code: str | None = answer.json()["error"]["code"]
    except (ValueError, KeyError, TypeError):  # a 503 of a proxy
        return None
    return code


def _query(parameters: Json) -> Json:
    return {"params": {name: value for name, value in parameters.items() if value is not None}}
