"""What operations add to the OpenAPI document beyond their answers: parameters and bodies."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from paraph.api.v1.openapi.examples import BODIES, CREATIONS, SMALLEST_PDF, Json
from paraph.drafts.input import DraftCreation
from paraph.request_templates.input import TemplateCreation, TemplateSending
from paraph.signature_requests.fields.entry import ENTERED, EnteredField
from paraph.signature_requests.input import Creation, End
from paraph.signature_requests.input_types import LONGEST_REASON, LONGEST_TAG
from paraph.signature_requests.marks import Drawn, Typed
from paraph.signature_requests.plain_schema import plain_schema
from paraph.signature_requests.values import LARGEST_ID, LONGEST_NAME
from paraph.webhooks.payload import EVENTS

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
EVENT_LIST: DocumentPart = {
    "parameters": [
        _query(
            "after",
            "A cursor returned as `next`; `latest` for the end. Without it, from the oldest that are kept.",
            type="string",
            pattern="^(latest|[A-Za-z0-9_-]{22})$",
            examples=["latest"],
        ),
        _query("limit", "How many at most.", type="integer", minimum=1, maximum=100, default=50),
        _query("event", "Only those of the type.", type="string", enum=list(EVENTS)),
        _query(
            "signature_request_id",
            "Only those of the request.",
            type="integer",
            minimum=1,
            maximum=LARGEST_ID,
            format="int64",
        ),
    ]
}

_IDEMPOTENCY_KEY: DocumentPart = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A text of your choice, new for each thing to do, such as a UUID. Sent again with the same content "
    "within 24 hours, the call does nothing: it is answered with what the first one made or changed, and the header "
    "`Idempotent-Replayed`. So a call whose answer was lost can be sent again.",
    "schema": {"type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": 255},
    "example": "6f1a2c1e-9d53-4a7e-8a53-2f6d1f2a7c11",
}
_ACCEPT: DocumentPart = {
    "name": "accept_drawn_differently",
    "in": "query",
    "required": False,
    "description": "Take a file with text that a second renderer draws otherwise than signers see it. Without it such "
    "a file is refused, with the numbers of its pages.",
    "schema": {"type": "boolean", "default": False},
    "example": False,
}
UPLOAD: DocumentPart = {
    "parameters": [_IDEMPOTENCY_KEY, _ACCEPT],
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


def _json_body(model: type[BaseModel], description: str, examples: dict[str, tuple[str, Json]]) -> DocumentPart:
    return {
        "parameters": [_IDEMPOTENCY_KEY],
        "requestBody": {
            "required": True,
            "description": f"{description}, under the root key. At most 4 MiB.",
            "content": {
                "application/json": {
                    "schema": {"$ref": f"#/components/schemas/{model.__name__}"},
                    "examples": {
                        name: {"summary": summary, "value": value} for name, (summary, value) in examples.items()
                    },
                }
            },
        },
    }


CREATION = _json_body(Creation, "The request", CREATIONS)
TEMPLATE_CREATION = _json_body(TemplateCreation, "The template", BODIES["createTemplate"])
TEMPLATE_SENDING = _json_body(TemplateSending, "Who signs", BODIES["sendTemplate"])
DRAFT_CREATION = _json_body(DraftCreation, "The request, as far as it is known", BODIES["createDraft"])

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
SIGN_ACT: DocumentPart = {
    "parameters": [_IDEMPOTENCY_KEY],
    "requestBody": {
        "required": False,
        "description": "How it is signed. Without a body, by the signer's name.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "signature": {
                            "anyOf": [{"title": each.__name__, **plain_schema(each)} for each in (Typed, Drawn)],
                            "description": "The signature, as the signer's page sends it.",
                        },
                        "fields": {"type": "array", "description": ENTERED, "items": plain_schema(EnteredField)},
                    },
                    "additionalProperties": False,
                },
                "examples": {
                    "drawn": {
                        "summary": "A drawing of one stroke",
                        "value": {
                            "signature": {
                                "type": "drawn",
                                "strokes": [[[0.1, 0.6], [0.4, 0.3], [0.9, 0.4]]],
                            }
                        },
                    }
                },
            }
        },
    },
}
DECLINE_ACT: DocumentPart = {
    "parameters": [_IDEMPOTENCY_KEY],
    "requestBody": {
        "required": False,
        "description": "Why. Without a body, because a test wants it.",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "reason": {
                            "type": "string",
                            "minLength": 1,
                            "maxLength": LONGEST_REASON,
                            "description": "The reason that the signer gives.",
                        }
                    },
                    "additionalProperties": False,
                },
                "examples": {"reason": {"summary": "A reason", "value": {"reason": "The rent is wrong."}}},
            }
        },
    },
}


def _link(operation: str, parameter: str, description: str) -> DocumentPart:
    return {"operationId": operation, "parameters": {parameter: "$response.body#/id"}, "description": description}


_OF_REQUEST = {
    "read": _link("readSignatureRequest", "request_id", "Reads the request."),
    "auditLog": _link("listAuditLogs", "signature_request_id", "Reads what happened to it."),
}
LINKS: dict[str, DocumentPart] = {
    "uploadDocument": {"read": _link("readDocument", "document_id", "Reads the document.")},
    "createSignatureRequest": _OF_REQUEST,
    "createTemplate": {
        "read": _link("readTemplate", "template_id", "Reads the template."),
        "send": _link("sendTemplate", "template_id", "Creates a request from it."),
    },
    "sendTemplate": _OF_REQUEST,
    "createDraft": {"read": _link("readDraft", "draft_id", "Reads what became of it.")},
}


def creation_schemas() -> dict[str, DocumentPart]:
    """Return the schemas of the bodies that clients send, by name."""
    bodies: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        (model, "validation") for model in (Creation, End, TemplateCreation, TemplateSending, DraftCreation)
    ]
    _, found = models_json_schema(bodies, ref_template="#/components/schemas/{model}")
    schemas: dict[str, DocumentPart] = found["$defs"]
    return schemas
