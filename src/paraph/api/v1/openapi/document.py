"""The OpenAPI document, as /api/v1/openapi.json gives it. It is the one thing there that wants no key."""

import json
from functools import cache
from typing import Any

from django.conf import settings

from paraph import __version__
from paraph.api.v1.openapi import words
from paraph.api.v1.openapi.examples import ANSWERS
from paraph.api.v1.openapi.parts import LINKS, creation_schemas
from paraph.api.v1.openapi.refusals import Refusal, refusals
from paraph.api.v1.openapi.schemas import Error
from paraph.api.v1.openapi.webhooks import callbacks, webhook_schemas_by_name, webhooks
from paraph.api.v1.routes import api
from paraph.signature_requests.values import LARGEST_ID

ADDRESS = "/api/v1/openapi.json"

Part = dict[str, Any]


@cache
def document() -> bytes:
    """The document in JSON."""
    generated = json.loads(json.dumps(api.get_openapi_schema(path_prefix="/api/v1")))
    for operations in generated["paths"].values():
        for operation in operations.values():
            _complete(operation)
    schemas = generated["components"]["schemas"] | creation_schemas() | webhook_schemas_by_name() | _error_schemas()
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
        "paths": generated["paths"],
        "webhooks": webhooks(),
        "components": {
            "schemas": schemas,
            "headers": _headers(),
            "securitySchemes": {
                "ApiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": words.KEY}
            },
        },
    }
    return json.dumps(content, ensure_ascii=False).encode()


def _error_schemas() -> Part:
    schema = Error.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "Error": schema}


def _complete(operation: Part) -> None:
    """Adds the words, the examples, the refusals that the operation may meet, and the headers of every answer."""
    name = operation["operationId"]
    operation["summary"], operation["description"], answered = words.OPERATIONS[name]
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            parameter["description"] = words.PATH_PARAMETERS[parameter["name"]]
            parameter["schema"] |= {"minimum": 1, "maximum": LARGEST_ID, "format": "int64"}
            parameter["example"] = 35 if parameter["name"] == "document_id" else 71
    [(status, response)] = operation["responses"].items()
    response["description"] = answered
    response["content"]["application/json"]["examples"] = {
        key: {"summary": summary, "value": value} for key, (summary, value) in ANSWERS[name].items()
    }
    if name in LINKS:
        response["links"] = LINKS[name]
    if name == "createSignatureRequest":
        operation["callbacks"] = callbacks()
    operation["responses"] = {str(status): response} | _refused(refusals(name))
    for code, each in operation["responses"].items():
        each["headers"] = _headers_of(code)


def _refused(refused: list[Refusal]) -> Part:
    answers: Part = {}
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


def _headers() -> Part:
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
        "WWW-Authenticate": {
            "description": words.WWW_AUTHENTICATE,
            "required": True,
            "schema": {"type": "string", "const": "ApiKey"},
            "example": "ApiKey",
        },
    }


def _headers_of(status: str) -> Part:
    """401 is not counted; a fault may come before the counting."""
    shared = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *words.LIMIT_HEADERS)}
    if status == "401":
        shared = {name: shared[name] for name in ("X-Request-Id",)}
        return shared | {"WWW-Authenticate": {"$ref": "#/components/headers/WWW-Authenticate"}}
    if status == "500":
        limits = {name: _headers()[name] | {"required": False} for name in words.LIMIT_HEADERS}
        return {"X-Request-Id": shared["X-Request-Id"]} | limits
    return shared
