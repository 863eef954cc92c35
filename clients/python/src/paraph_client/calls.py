"""The calls of the API, each as data: what to send and how to read the answer. Both clients run these."""

import random
import uuid
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
_PASSING = {429, 500, 502, 503, 504}  # statuses after which the same call may succeed
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 8.0  # seconds


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


def wait_before_repeating(outcome: httpx.Response | httpx.TransportError, tried: int) -> float | None:
    """Seconds after which the same call is sent again, having been ``tried`` so often before; ``None`` where that is of
    no use. Every call may be repeated: those that create something have an idempotency key."""
    asked = 0.0
    if isinstance(outcome, httpx.Response):
        if outcome.status_code not in _PASSING and _code(outcome) != "idempotency_key_in_use":
            return None
        asked = _retry_after(outcome)
    longest = min(_FIRST_WAIT * 2**tried, _LONGEST_WAIT)
    return max(asked, random.uniform(longest / 2, longest))  # noqa: S311  so that clients do not come back together


def _retry_after(answer: httpx.Response) -> float:
    try:
        return max(0.0, float(answer.headers.get("Retry-After", "0")))
    except ValueError:
        return 0.0


def health() -> Call[Health]:
    return Call("GET", "health", Health.parse)


def upload_document(content: bytes, name: str) -> Call[Document]:
    return Call("POST", "documents", Document.parse, {"files": {"file": (name, content, MIME)}, "headers": _new_key()})


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
    options = {"json": {"signature_request": body}, "headers": _new_key()}
    return Call("POST", "signature_requests", SignatureRequest.parse, options)


def signature_request(request_id: int) -> Call[SignatureRequest]:
    return Call("GET", f"signature_requests/{request_id}", SignatureRequest.parse)


def signature_requests(**parameters: Any) -> Call[Page[SignatureRequest]]:
    return Call("GET", "signature_requests", Page.parser(SignatureRequest.parse), _query(parameters))


def audit_logs(request_id: int, **parameters: Any) -> Call[Page[AuditLogEntry]]:
    path = f"signature_requests/{request_id}/audit_logs"
    return Call("GET", path, Page.parser(AuditLogEntry.parse), _query(parameters))


def branding_profiles(**parameters: Any) -> Call[Page[BrandingProfile]]:
    return Call("GET", "branding_profiles", Page.parser(BrandingProfile.parse), _query(parameters))


def _new_key() -> dict[str, str]:
    return {"Idempotency-Key": str(uuid.uuid4())}


def _code(answer: httpx.Response) -> str | None:
    try:
        code: str | None = answer.json()["error"]["code"]
    except (ValueError, KeyError, TypeError):  # an answer of a proxy
        return None
    return code


def _query(parameters: Json) -> Json:
    return {"params": {name: value for name, value in parameters.items() if value is not None}}
