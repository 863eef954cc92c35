"""The OpenAPI document, which /api/v1/openapi.json answers without a key: the shapes of bodies and answers, the
webhooks (rule 6.1) and callbacks (6.4), and examples about one lease, signed by two people (``examples.json``)."""

import json
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from paraph import __version__
from paraph.api.v1 import events
from paraph.api.v1.codes import CODES
from paraph.api.v1.endpoint import KEY, Body, DocumentPart, Operation, endpoint, json_bytes
from paraph.api.v1.operations import OPERATIONS
from paraph.api.v1.shapes import Error
from paraph.signature_requests.values import LARGEST_ID

Json = dict[str, Any]
Examples = dict[str, dict[str, Any]]
"""By operation and name, each a summary and a value."""

_EXAMPLES: Json = json.loads(Path(__file__).with_name("examples.json").read_text("utf-8"))

ANSWERS: Examples = _EXAMPLES["answers"]
ANSWERS["sendTemplate"] = ANSWERS["createSignatureRequest"]
BODIES: Examples = _EXAMPLES["bodies"]
BODIES["previewSignatureRequest"] = BODIES["createSignatureRequest"]
REFUSALS: dict[str, list[str]] = _EXAMPLES["refusals"]
EVENTS: dict[str, Json] = _EXAMPLES["events"]
TRIED: dict[str, Json] = _EXAMPLES["tried"]  # bodies for the PDF of one empty page
TRIED["previewSignatureRequest"] = TRIED["createSignatureRequest"]
FIELDS: Json = _EXAMPLES["fields"]  # a creation with fields, an approver and copies
SMALLEST_PDF: str = BODIES["uploadDocument"]["pdf"][1]["file"]

_REFERENCE = "#/components/schemas/{model}"
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
_SECTIONS = {"sandbox": "Sandbox acts", "health": "Service"}  # by the first part of a path that is no section's name
_IDS = {
    "document_id": ("The document's `id`.", 35),
    "request_id": ("The request's `id`.", 71),
    "signature_request_id": ("The request's `id`.", 71),
    "template_id": ("The template's `id`.", 12),
    "draft_id": ("The draft's `id`.", 23),
    "signer_id": ("The signer's `id` in the request.", 141),
}


def _limit_header(description: str, example: int) -> DocumentPart:
    schema = {"type": "integer", "minimum": 0, "format": "int64"}
    return {"description": description, "required": True, "schema": schema, "example": example}


_LIMIT_HEADERS = {
    "Retry-After": _limit_header(
        "Seconds to wait before the next call; 0 while calls remain and nothing else stands in its way.", 0
    ),
    "X-RateLimit-Limit": _limit_header("Ceiling of the most constraining window.", 120),
    "X-RateLimit-Remaining": _limit_header("Calls left in that window; 0 on a 429.", 117),
    "X-RateLimit-Reset": _limit_header("Unix time of that window's reset.", 1905323460),
}
_ANSWER_HEADERS = _LIMIT_HEADERS | {
    "X-Request-Id": {
        "description": "Identifies this call in the service's log. Name it when you ask the operator.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9a-f]{16}$", "minLength": 16, "maxLength": 16},
        "example": "5f0c2a9e8d7b6a41",
    },
    "Idempotent-Replayed": {
        "description": "`true` where the call did nothing, since an earlier one with its `Idempotency-Key` did.",
        "required": False,
        "schema": {"type": "string", "const": "true"},
        "example": "true",
    },
    "WWW-Authenticate": {
        "description": "How to authenticate: `ApiKey`.",
        "required": True,
        "schema": {"type": "string", "const": "ApiKey"},
        "example": "ApiKey",
    },
}


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
    paths: DocumentPart = {}
    for operation in OPERATIONS:
        paths.setdefault(f"/api/v1{operation.path}", {})[operation.method.lower()] = _described(operation)
    content = {
        "openapi": "3.1.0",
        "info": {"title": _TITLE, "summary": _SUMMARY, "version": __version__, "description": _DESCRIPTION},
        "servers": [{"url": settings.PARAPH.public_url, "description": "This installation."}],
        "externalDocs": {"url": f"{settings.PARAPH.public_url}/docs", "description": "The same, to read, with guides."},
        "tags": [{"name": name, "description": description} for name, description in _TAGS.items()],
        "security": [{"ApiKey": []}],
        "paths": paths,
        "webhooks": {event: {"post": _delivery(event, event)} for event in EVENTS},
        "components": {
            "schemas": _schemas(),
            "headers": _ANSWER_HEADERS,
            "securitySchemes": {"ApiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": _KEY}},
        },
    }
    return json.dumps(content, ensure_ascii=False).encode()


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
    return part | ({"callbacks": _callbacks()} if operation.name == "createSignatureRequest" else {})


def _path_parameter(name: str) -> DocumentPart:
    description, example = _IDS[name]
    title, most = name.replace("_", " ").title(), LARGEST_ID
    return {
        "in": "path",
        "name": name,
        "schema": {"title": title, "type": "integer", "minimum": 1, "maximum": most, "format": "int64"},
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
    return {"$ref": _REFERENCE.format(model=model.__name__)}


def _answer(operation: Operation) -> DocumentPart:
    part: DocumentPart = {"description": operation.answered}
    if operation.answers:
        content = {"schema": _reference(operation.answers), "examples": _examples(ANSWERS[operation.name])}
        part["content"] = {"application/json": content}
    if operation.name == "previewSignatureRequest":
        part["content"]["application/pdf"] = {"schema": {"type": "string", "contentMediaType": "application/pdf"}}
    return part | ({"links": _LINKS[operation.name]} if operation.name in _LINKS else {})


def _schemas() -> DocumentPart:
    """Return the shapes of answers, of the bodies that clients send, of webhooks and of refusals, by name."""
    answers: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        (each.answers, "serialization") for each in OPERATIONS if each.answers
    ]
    bodies: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        (each.body.schema, "validation") for each in OPERATIONS if each.body and not isinstance(each.body.schema, dict)
    ]
    found: DocumentPart = {}
    for models in (answers, bodies):
        found |= models_json_schema(models, ref_template=_REFERENCE)[1]["$defs"]
    of_webhooks = (events.SignerEvent, events.RequestCompletedEvent, events.RequestExpiredEvent, events.TestEvent)
    for model in (*of_webhooks, Error):
        schema = model.model_json_schema(ref_template=_REFERENCE)
        found |= {**schema.pop("$defs"), model.__name__: schema}
    return found


def _refused(names: Iterable[str]) -> DocumentPart:
    """Return the answers of the refusals, in the order of their statuses. The examples, else the table of codes, tell
    when each comes and what it says. The part after a colon distinguishes names that share an example's name."""
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


def _headers_of(status: str) -> DocumentPart:
    """Return the headers of an answer. A 401 is not counted, and a fault may come before the call is counted."""
    names = ["WWW-Authenticate"] if status == "401" else list(_LIMIT_HEADERS)
    headers: DocumentPart = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *names)}
    if status == "500":
        headers |= {name: header | {"required": False} for name, header in _LIMIT_HEADERS.items()}
    return headers


_WHEN = {
    "signer.notified": ("A signer was invited", "The mail server has taken the invitation."),
    "signer.otp_sent": ("A one-time code was sent", "The code went out by e-mail or SMS."),
    "signer.signed": ("A signer has signed", "With a valid one-time code."),
    "request.completed": (
        "The results are ready",
        "Everybody has signed, and the sealed PDFs and the proof file can be downloaded. The addresses are made when "
        "the delivery is sent, at each retry anew.",
    ),
    "request.expired": (
        "A request has expired",
        "The validity ended, or the request was ended early, before everybody had signed.",
    ),
    "webhook.test": ("A test", "A member has sent it from the dashboard. Nobody gets one unasked; do nothing."),
}
_SCHEMAS = {
    "request.completed": "RequestCompletedEvent",
    "request.expired": "RequestExpiredEvent",
    "webhook.test": "TestEvent",
}
_SIGNATURE = {"type": "string", "pattern": "^sha256=[0-9a-f]{64}$", "minLength": 71, "maxLength": 71}
_HEADERS: dict[str, tuple[str, DocumentPart, Any]] = {
    "X-Service-Event": (
        "The event type, the same as `event` of the payload.",
        {"type": "string", "enum": list(EVENTS)},
        None,  # the name of the event
    ),
    "X-Service-Event-Id": (
        "Identifies the event, for deduplication: the `id` of `GET /events` and of the audit log. The same in every "
        "attempt, replay and callback; 0 for a test.",
        {"type": "integer", "minimum": 0, "format": "int64"},
        905,
    ),
    "X-Service-Delivery": (
        "Identifies the attempt. Another at every retry.",
        {"type": "string", "format": "uuid", "minLength": 36, "maxLength": 36},
        "0c5e7a3e-5d0e-4b1b-9d5b-5f0a7f2f9c11",
    ),
    "X-Service-Signature": (
        "`sha256=` and the HMAC-SHA256 of the raw body under the application's `webhook_secret`, in hexadecimal. "
        "Compare in constant time before you parse. While the secret is rotated, `X-Service-Signature-Next` has the "
        "signature by the new one.",
        _SIGNATURE,
        "sha256=8f3c1f6a2d4b5e7f9a0b1c2d3e4f5061728394a5b6c7d8e9f0a1b2c3d4e5f607",
    ),
    "X-Service-Signature-Next": (
        "Only while the secret is rotated: the signature by the new secret. Accept a body that either header proves.",
        _SIGNATURE,
        "sha256=1b9d2e7c4f6a8053c1d4e7f0a3b6c9d2e5f8011427304d5a6b7c8d9e0f102132",
    ),
}


def _callbacks() -> dict[str, DocumentPart]:
    """Return the webhooks that go to a request's own callback address."""
    address = "{$request.body#/signature_request/callback_url}"
    return {
        event: {address: {"post": _delivery(event, f"callback.{event}")}}
        for event in ("request.completed", "request.expired")
    }


def _delivery(event: str, operation_id: str) -> DocumentPart:
    summary, description = _WHEN[event]
    schema = {"$ref": f"#/components/schemas/{_SCHEMAS.get(event, 'SignerEvent')}"}
    example = {"summary": summary, "value": EVENTS[event]}
    return {
        "operationId": operation_id,
        "tags": ["Webhooks"],
        "summary": summary,
        "description": description,
        "security": [],
        "parameters": [_header(name, event) for name in _HEADERS],
        "requestBody": {
            "required": True,
            "description": "The event. Verify the signature over these very bytes.",
            "content": {"application/json": {"schema": schema, "examples": {event: example}}},
        },
        "responses": {
            "2XX": {"description": "Taken. Answer within 5 seconds; the body is not looked at."},
            "default": {
                "description": "Not taken: redirects too, no connection, or more than 5 seconds. Tried again after 1, "
                "5 and 25 minutes, 2 and 10 hours, then given up."
            },
        },
    }


def _header(name: str, event: str) -> DocumentPart:
    description, schema, example = _HEADERS[name]
    return {
        "name": name,
        "in": "header",
        "required": name != "X-Service-Signature-Next",
        "description": description,
        "schema": schema,
        "example": example or event,
    }
