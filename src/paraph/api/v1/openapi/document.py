"""The OpenAPI document, as /api/v1/openapi.json gives it. It is the one thing there that wants no key."""

import json
import re
from functools import cache

from django.conf import settings
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from paraph import __version__
from paraph.api.v1.openapi import words
from paraph.api.v1.openapi.examples import ANSWERS
from paraph.api.v1.openapi.operations import OPERATIONS, Operation
from paraph.api.v1.openapi.parts import LINKS, DocumentPart, creation_schemas
from paraph.api.v1.openapi.refusals import Refusal, refusals
from paraph.api.v1.openapi.webhooks import callbacks, webhook_schemas_by_name, webhooks
from paraph.api.v1.shapes import Error
from paraph.signature_requests.values import LARGEST_ID

_EXAMPLE_IDS = {"document_id": 35, "signer_id": 141, "template_id": 12, "draft_id": 23}


@cache
def document() -> bytes:
    """Return the document in JSON."""
    content = {
        "openapi": "3.1.0",
        "info": {
            "title": words.TITLE,
            "summary": words.SUMMARY,
            "version": __version__,
            "description": words.DESCRIPTION,
        },
        "servers": [{"url": settings.PARAPH.public_url, "description": "This installation."}],
        "externalDocs": {"url": f"{settings.PARAPH.public_url}/docs", "description": "The same, to read, with guides."},
        "tags": [{"name": name, "description": description} for name, description in words.TAGS.items()],
        "security": [{"ApiKey": []}],
        "paths": _paths(),
        "webhooks": webhooks(),
        "components": {
            "schemas": _answer_schemas() | creation_schemas() | webhook_schemas_by_name() | _error_schemas(),
            "headers": _headers(),
            "securitySchemes": {
                "ApiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": words.KEY}
            },
        },
    }
    return json.dumps(content, ensure_ascii=False).encode()


def _paths() -> DocumentPart:
    paths: DocumentPart = {}
    for operation in OPERATIONS:
        paths.setdefault(f"/api/v1{operation.path}", {})[operation.method] = _described(operation)
    return paths


def _described(operation: Operation) -> DocumentPart:
    """Return the operation with its words, its examples, the refusals that it may meet, and the headers of every
    answer."""
    summary, description, _ = words.OPERATIONS[operation.name]
    responses = {str(operation.status): _answer(operation)} | _refused(refusals(operation.name))
    for status, response in responses.items():
        response["headers"] = _headers_of(status)
    if _takes_key(operation):
        replayed = {"Idempotent-Replayed": {"$ref": "#/components/headers/Idempotent-Replayed"}}
        responses[str(operation.status)]["headers"] |= replayed
    path_parameters = [_path_parameter(name) for name in re.findall(r"{(\w+)}", operation.path)]
    part: DocumentPart = {
        "operationId": operation.name,
        "summary": summary,
        "description": description,
        "tags": [operation.tag],
        **operation.accepts,
        "parameters": path_parameters + operation.accepts.get("parameters", []),
        "responses": responses,
    }
    return part | ({"callbacks": callbacks()} if operation.name == "createSignatureRequest" else {})


def _takes_key(operation: Operation) -> bool:
    return any(parameter["name"] == "Idempotency-Key" for parameter in operation.accepts.get("parameters", []))


def _path_parameter(name: str) -> DocumentPart:
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
        "description": words.PATH_PARAMETERS[name],
        "example": _EXAMPLE_IDS.get(name, 71),
    }


def _answer(operation: Operation) -> DocumentPart:
    if operation.answer is None:
        return {"description": words.OPERATIONS[operation.name][2]}
    examples = {key: {"summary": summary, "value": value} for key, (summary, value) in ANSWERS[operation.name].items()}
    schema = {"$ref": f"#/components/schemas/{operation.answer.__name__}"}
    part: DocumentPart = {
        "description": words.OPERATIONS[operation.name][2],
        "content": {"application/json": {"schema": schema, "examples": examples}},
    }
    if operation.name == "previewSignatureRequest":
        part["content"]["application/pdf"] = {"schema": {"type": "string", "contentMediaType": "application/pdf"}}
    return part | ({"links": LINKS[operation.name]} if operation.name in LINKS else {})


def _answer_schemas() -> DocumentPart:
    models: list[tuple[type[BaseModel], JsonSchemaMode]] = [
        (each.answer, "serialization") for each in OPERATIONS if each.answer
    ]
    _, found = models_json_schema(models, ref_template="#/components/schemas/{model}")
    definitions: DocumentPart = found["$defs"]
    return definitions


def _error_schemas() -> DocumentPart:
    schema = Error.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "Error": schema}


def _refused(refused: list[Refusal]) -> DocumentPart:
    answers: DocumentPart = {}
    for refusal in refused:
        answer = answers.setdefault(
            refusal.status,
            {
                "description": "",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}, "examples": {}}},
            },
        )
        answer["description"] = f"{answer['description']}\n\n`{refusal.code}`: {refusal.when}".strip()
        error = {"code": refusal.code, "message": refusal.message}
        example = {"summary": refusal.when, "value": {"error": error}}
        answer["content"]["application/json"]["examples"][refusal.name] = example
    return answers


def _headers() -> DocumentPart:
    limits = {
        name: {
            "description": description,
            "required": True,
            "schema": {"type": "integer", "minimum": 0, "format": "int64"},
            "example": example,
        }
        for name, (description, example) in words.LIMIT_HEADERS.items()
    }
    return limits | {
        "X-Request-Id": {
            "description": words.REQUEST_ID,
            "required": True,
            "schema": {"type": "string", "pattern": "^[0-9a-f]{16}$", "minLength": 16, "maxLength": 16},
            "example": "5f0c2a9e8d7b6a41",
        },
        "Idempotent-Replayed": {
            "description": words.IDEMPOTENT_REPLAYED,
            "required": False,
            "schema": {"type": "string", "const": "true"},
            "example": "true",
        },
        "WWW-Authenticate": {
            "description": words.WWW_AUTHENTICATE,
            "required": True,
            "schema": {"type": "string", "const": "ApiKey"},
            "example": "ApiKey",
        },
    }


def _headers_of(status: str) -> DocumentPart:
    """401 is not counted; a fault may come before the counting."""
    shared = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *words.LIMIT_HEADERS)}
    if status == "401":
        shared = {name: shared[name] for name in ("X-Request-Id",)}
        return shared | {"WWW-Authenticate": {"$ref": "#/components/headers/WWW-Authenticate"}}
    if status == "500":
        limits = {name: _headers()[name] | {"required": False} for name in words.LIMIT_HEADERS}
        return {"X-Request-Id": shared["X-Request-Id"]} | limits
    return shared
