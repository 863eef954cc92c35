"""The OpenAPI document, as /api/v1/openapi.json gives it. It is the one thing there that wants no key."""

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from paraph import __version__
from paraph.api.v1.codes import CODES
from paraph.api.v1.endpoint import KEY, Body, DocumentPart, Operation, endpoint, json_bytes
from paraph.api.v1.openapi.examples import ANSWERS, BODIES, REFUSALS
from paraph.api.v1.openapi.webhooks import callbacks, webhook_schemas_by_name, webhooks
from paraph.api.v1.operations import OPERATIONS
from paraph.api.v1.shapes import Error
from paraph.signature_requests.values import LARGEST_ID

_TITLE = "Paraph API"
_SUMMARY = "Electronic signatures: PDFs in, sealed and provable PDFs out."
_DESCRIPTION = """Upload PDFs, create a signature request that names who signs where, follow it by webhooks, by events
or by reading it, and download the sealed documents with their proof file.

Bodies are JSON, except the upload (multipart/form-data). Timestamps are UTC, `YYYY-MM-DDTHH:MM:SSZ`. Ids are
integers, unique within a kind of resource, and another number in the other environment. Ignore response fields that
you do not know: new ones are no breaking change. An optional field of a body that is null counts as absent; the one
exception is `optional` of a stamp.

`HEAD` is answered like `GET`, without the body. Any other method gives 405 `method_not_allowed` with `Allow`."""

_KEY = """64 hexadecimal characters, shown once when the application is created. The key decides the organization and
the environment, `sandbox` or `production`."""

_TAGS = {
    "Documents": "Uploaded PDFs. They are never changed: signing makes a new file.",
    "Signature requests": "Who signs which documents, in which order, where; and what has happened so far.",
    "Templates": "Signature requests without people: documents, roles, places and options, to be sent again and again.",
    "Drafts": "Requests that your program prepares and a person sends.",
    "Events": "What happened to the requests of an environment, kept for 30 days: nothing missed, nothing twice.",
    "Branding profiles": "Colours of the signer's pages. The same in both environments.",
    "Sandbox acts": "What signers and the clock do, done by your tests. For sandbox keys alone.",
    "Service": "Whether the service answers.",
    "Webhooks": "What your backend hears.",
}
_SECTIONS = {"sandbox": "Sandbox acts", "health": "Service"}  # by the first part of a path, where it is no name of one
_IDS = {
    "document_id": ("The document's `id`.", 35),
    "request_id": ("The request's `id`.", 71),
    "signature_request_id": ("The request's `id`.", 71),
    "template_id": ("The template's `id`.", 12),
    "draft_id": ("The draft's `id`.", 23),
    "signer_id": ("The signer's `id` in the request.", 141),
}
_LIMIT_HEADERS = {
    "Retry-After": (
        "Seconds to wait before the next call; 0 while calls remain and nothing else stands in its way.",
        0,
    ),
    "X-RateLimit-Limit": ("Ceiling of the most constraining window.", 120),
    "X-RateLimit-Remaining": ("Calls left in that window; 0 on a 429.", 117),
    "X-RateLimit-Reset": ("Unix time of that window's reset.", 1905323460),
}
_REQUEST_ID = "Identifies this call in the service's log. Name it when you ask the operator."
_IDEMPOTENT_REPLAYED = "`true` where the call did nothing, since an earlier one with its `Idempotency-Key` did."
_WWW_AUTHENTICATE = "How to authenticate: `ApiKey`."


def _link(operation: str, parameter: str, description: str) -> DocumentPart:
    return {"operationId": operation, "parameters": {parameter: "$response.body#/id"}, "description": description}


_OF_REQUEST = {
    "read": _link("readSignatureRequest", "request_id", "Reads the request."),
    "auditLog": _link("listAuditLogs", "signature_request_id", "Reads what happened to it."),
}
_LINKS: dict[str, DocumentPart] = {
    "uploadDocument": {"read": _link("readDocument", "document_id", "Reads the document.")},
    "createSignatureRequest": _OF_REQUEST,
    "createTemplate": {
        "read": _link("readTemplate", "template_id", "Reads the template."),
        "send": _link("sendTemplate", "template_id", "Creates a request from it."),
    },
    "sendTemplate": _OF_REQUEST,
    "createDraft": {"read": _link("readDraft", "draft_id", "Reads what became of it.")},
}


@csrf_exempt
def openapi(request: HttpRequest) -> HttpResponse:
    """Answer ``GET /api/v1/openapi.json`` with the document, for everybody; other methods are refused as on every
    route."""
    if request.method not in ("GET", "HEAD"):
        return _refuse(request)
    response = json_bytes(document())
    response.headers["Cache-Control"] = "no-store"
    return response


_refuse = endpoint(GET=openapi)


@cache
def document() -> bytes:
    """Return the document in JSON."""
    content = {
        "openapi": "3.1.0",
        "info": {
            "title": _TITLE,
            "summary": _SUMMARY,
            "version": __version__,
            "description": _DESCRIPTION,
        },
        "servers": [{"url": settings.PARAPH.public_url, "description": "This installation."}],
        "externalDocs": {"url": f"{settings.PARAPH.public_url}/docs", "description": "The same, to read, with guides."},
        "tags": [{"name": name, "description": description} for name, description in _TAGS.items()],
        "security": [{"ApiKey": []}],
        "paths": _paths(),
        "webhooks": webhooks(),
        "components": {
            "schemas": _schemas() | webhook_schemas_by_name() | _error_schemas(),
            "headers": _headers(),
            "securitySchemes": {"ApiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": _KEY}},
        },
    }
    return json.dumps(content, ensure_ascii=False).encode()


def _paths() -> DocumentPart:
    paths: DocumentPart = {}
    for operation in OPERATIONS:
        paths.setdefault(f"/api/v1{operation.path}", {})[operation.method.lower()] = _described(operation)
    return paths


def _described(operation: Operation) -> DocumentPart:
    """Return the operation with its words, its examples, the refusals that it may meet, and the headers of every
    answer."""
    responses = {str(operation.status): _answer(operation)} | _refused(operation.refuses)
    for status, response in responses.items():
        response["headers"] = _headers_of(status)
    if KEY in operation.accepts:
        replayed = {"Idempotent-Replayed": {"$ref": "#/components/headers/Idempotent-Replayed"}}
        responses[str(operation.status)]["headers"] |= replayed
    section = operation.path.split("/")[1]
    part: DocumentPart = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": operation.description,
        "tags": [_SECTIONS.get(section, section.replace("_", " ").capitalize())],
    }
    parameters = [*map(_path_parameter, re.findall(r"{(\w+)}", operation.path)), *operation.accepts]
    body = {"requestBody": _body(operation.name, operation.body)} if operation.body else {}
    part |= ({"parameters": parameters} | body) if operation.accepts else (body | {"parameters": parameters})
    part["responses"] = responses
    return part | ({"callbacks": callbacks()} if operation.name == "createSignatureRequest" else {})


def _path_parameter(name: str) -> DocumentPart:
    description, example = _IDS[name]
    return {
        "in": "path",
        "name": name,
        "schema": {
            "title": name.replace("_", " ").title(),
            "type": "integer",
            "minimum": 1,
            "maximum": LARGEST_ID,
            "format": "int64",
        },
        "required": True,
        "description": description,
        "example": example,
    }


def _body(name: str, body: Body) -> DocumentPart:
    schema = body.schema if isinstance(body.schema, dict) else _reference(body.schema)
    content = {"schema": schema, "examples": _examples(BODIES[name]), **(body.more or {})}
    return {"required": body.required, "description": body.description, "content": {body.media: content}}


def _examples(examples: dict[str, Any]) -> DocumentPart:
    return {name: {"summary": summary, "value": value} for name, (summary, value) in examples.items()}


def _reference(model: type[BaseModel]) -> DocumentPart:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _answer(operation: Operation) -> DocumentPart:
    part: DocumentPart = {"description": operation.answered}
    if operation.answers:
        content = {"schema": _reference(operation.answers), "examples": _examples(ANSWERS[operation.name])}
        part["content"] = {"application/json": content}
    if operation.name == "previewSignatureRequest":
        part["content"]["application/pdf"] = {"schema": {"type": "string", "contentMediaType": "application/pdf"}}
    return part | ({"links": _LINKS[operation.name]} if operation.name in _LINKS else {})


def _schemas() -> DocumentPart:
    """Return the shapes of answers and of the bodies that clients send, by name."""
    answers: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        (each.answers, "serialization") for each in OPERATIONS if each.answers
    ]
    bodies: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        (each.body.schema, "validation") for each in OPERATIONS if each.body and not isinstance(each.body.schema, dict)
    ]
    found: DocumentPart = {}
    for models in (answers, bodies):
        found |= models_json_schema(models, ref_template="#/components/schemas/{model}")[1]["$defs"]
    return found


def _error_schemas() -> DocumentPart:
    schema = Error.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "Error": schema}


def _refused(names: Iterable[str]) -> DocumentPart:
    """Return the answers of the refusals, in the order of their statuses. When each comes and what it says stands in
    the examples, else in the table of codes; what is behind a colon tells apart those whose examples have one name."""
    answers: DocumentPart = {}
    limit = str(settings.PARAPH.upload_limit_mb)
    for name in sorted(names, key=lambda name: CODES[_code(name)].status):
        code = CODES[_code(name)]
        when, message = (text.replace("{limit}", limit) for text in REFUSALS.get(name, (code.when, code.message)))
        schema = {"schema": {"$ref": "#/components/schemas/Error"}, "examples": {}}
        answer = answers.setdefault(str(code.status), {"description": "", "content": {"application/json": schema}})
        answer["description"] = f"{answer['description']}\n\n`{_code(name)}`: {when}".strip()
        example = {"summary": when, "value": {"error": {"code": _code(name), "message": message}}}
        answer["content"]["application/json"]["examples"][name.partition(":")[0]] = example
    return answers


def _code(name: str) -> str:
    """Return the code that the name of a refusal begins with."""
    if name.startswith("validation_"):
        return "validation_error"
    return "forbidden" if name == "suspended" else next(code for code in CODES if name.startswith(code))


def _headers() -> DocumentPart:
    limits = {
        name: {
            "description": description,
            "required": True,
            "schema": {"type": "integer", "minimum": 0, "format": "int64"},
            "example": example,
        }
        for name, (description, example) in _LIMIT_HEADERS.items()
    }
    return limits | {
        "X-Request-Id": {
            "description": _REQUEST_ID,
            "required": True,
            "schema": {"type": "string", "pattern": "^[0-9a-f]{16}$", "minLength": 16, "maxLength": 16},
            "example": "5f0c2a9e8d7b6a41",
        },
        "Idempotent-Replayed": {
            "description": _IDEMPOTENT_REPLAYED,
            "required": False,
            "schema": {"type": "string", "const": "true"},
            "example": "true",
        },
        "WWW-Authenticate": {
            "description": _WWW_AUTHENTICATE,
            "required": True,
            "schema": {"type": "string", "const": "ApiKey"},
            "example": "ApiKey",
        },
    }


def _headers_of(status: str) -> DocumentPart:
    """401 is not counted; a fault may come before the counting."""
    shared = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *_LIMIT_HEADERS)}
    if status == "401":
        shared = {name: shared[name] for name in ("X-Request-Id",)}
        return shared | {"WWW-Authenticate": {"$ref": "#/components/headers/WWW-Authenticate"}}
    if status == "500":
        limits = {name: _headers()[name] | {"required": False} for name in _LIMIT_HEADERS}
        return {"X-Request-Id": shared["X-Request-Id"]} | limits
    return shared
