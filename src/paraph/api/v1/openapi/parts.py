"""What operations add to the OpenAPI document beyond their answers: parameters and bodies."""

from typing import Any

from pydantic.json_schema import models_json_schema

from paraph.api.v1.openapi.examples import CREATIONS, SMALLEST_PDF
from paraph.signature_requests.input import LONGEST_TAG, Creation, End
from paraph.signature_requests.values import LONGEST_NAME

DocumentPart = dict[str, Any]


def _query(name: str, description: str, **schema: Any) -> DocumentPart:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


_LENIENT = ["integer", "string"]  # what is no positive number is answered too, with the default
_PAGING = [
    _query("page", "From 1. What is no positive number is 1.", type=_LENIENT, default=1, examples=[1]),
    _query("limit", "Entries of a page. Lowered to 100; what is no positive number is 20.", type=_LENIENT, default=20),
]


def _moment(name: str, meaning: str) -> DocumentPart:
    description = f"{meaning}, inclusive. An ISO 8601 date (the whole day, in UTC) or timestamp, with any offset."
    forms = [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]
    return _query(name, description, anyOf=forms, examples=["2026-01-31", "2026-01-31T09:30:00Z"])


def _filters(*statuses: str) -> list[DocumentPart]:
    return [
        _query("status", "Only those of the status.", type="string", enum=list(statuses)),
        _moment("created_after", "Only those created from this moment on"),
        _moment("created_before", "Only those created up to this moment"),
        _query("order", "By the time of creation.", type="string", enum=["asc", "desc"], default="asc"),
    ]


PAGED: DocumentPart = {"parameters": _PAGING}
DOCUMENT_LIST: DocumentPart = {"parameters": [*_PAGING, *_filters("pending", "ready")]}
DOCUMENT_TAGS: DocumentPart = {
    "parameters": [
        _query(
            "text",
            "Another text, verbatim, capital letters too. Blanks and line breaks do not count.",
            type="string",
            minLength=1,
            maxLength=LONGEST_TAG,
        )
    ]
}
_EXTERNAL_ID = _query(
    "external_id", "Only those that were created with it, verbatim.", type="string", minLength=1, maxLength=LONGEST_NAME
)
REQUEST_LIST: DocumentPart = {"parameters": [*_PAGING, *_filters("pending", "completed", "expired"), _EXTERNAL_ID]}

_IDEMPOTENCY_KEY: DocumentPart = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A text of your choice, new for each call, such as a UUID. Sent again with the same content "
    "within 24 hours, the call does nothing: it is answered with what the first one made or changed, and the header "
    "`Idempotent-Replayed`. So a call whose answer was lost can be sent again.",
    "schema": {"type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": 255},
    "example": "6f1a2c1e-9d53-4a7e-8a53-2f6d1f2a7c11",
}
UPLOAD: DocumentPart = {
    "parameters": [_IDEMPOTENCY_KEY],
    "requestBody": {
        "required": True,
        "description": "One file. Other fields are ignored.",
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary", "description": "The PDF."}},
                },
                "examples": {"pdf": {"summary": "A PDF of one empty page", "value": {"file": SMALLEST_PDF}}},
                "encoding": {"file": {"contentType": "application/pdf"}},
            }
        },
    },
}

CREATION: DocumentPart = {
    "parameters": [_IDEMPOTENCY_KEY],
    "requestBody": {
        "required": True,
        "description": "The request, under the root key. At most 4 MiB.",
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/Creation"},
                "examples": {
                    name: {"summary": summary, "value": value} for name, (summary, value) in CREATIONS.items()
                },
            }
        },
    },
}

PREVIEW: DocumentPart = {"requestBody": CREATION["requestBody"]}
KEYED: DocumentPart = {"parameters": [_IDEMPOTENCY_KEY]}
END: DocumentPart = {
    "parameters": [_IDEMPOTENCY_KEY],
    "requestBody": {
        "required": True,
        "description": "Why.",
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/End"},
                "examples": {"end": {"summary": "Signed on paper", "value": {"reason": "Signed on paper."}}},
            }
        },
    },
}


def _link(operation: str, parameter: str, description: str) -> DocumentPart:
    return {"operationId": operation, "parameters": {parameter: "$response.body#/id"}, "description": description}


LINKS: dict[str, DocumentPart] = {
    "uploadDocument": {"read": _link("readDocument", "document_id", "Reads the document.")},
    "createSignatureRequest": {
        "read": _link("readSignatureRequest", "request_id", "Reads the request."),
        "auditLog": _link("listAuditLogs", "signature_request_id", "Reads what happened to it."),
    },
}


def creation_schemas() -> dict[str, DocumentPart]:
    """Return the schemas of the bodies that clients send, by name."""
    _, found = models_json_schema(
        [(Creation, "validation"), (End, "validation")], ref_template="#/components/schemas/{model}"
    )
    schemas: dict[str, DocumentPart] = found["$defs"]
    return schemas
