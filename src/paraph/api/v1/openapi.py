"""The OpenAPI document, as /api/v1/openapi.json gives it. It is the one thing there that wants no key."""

import json
from functools import cache
from typing import Any

from paraph.api.v1.openapi_parts import creation_schemas
from paraph.api.v1.routes import api
from paraph.api.v1.schemas import Error

ADDRESS = "/api/v1/openapi.json"

_LIMIT_HEADERS = {
    "Retry-After": "Seconds to wait before the next allowed call; 0 while calls remain.",
    "X-RateLimit-Limit": "Ceiling of the most constraining window.",
    "X-RateLimit-Remaining": "Calls left in that window.",
    "X-RateLimit-Reset": "Unix time of that window's reset.",
}
_REFUSALS = {
    "401": "`invalid_api_key`: the key is absent, malformed, unknown or revoked.",
    "402": "`payment_required`: the production environment requires a paid plan.",
    "429": "`rate_limited`: wait for Retry-After seconds.",
    "500": "`internal_error`: the message holds an id that the service's log has too.",
}
_OF_RESOURCES = {"404": "`not_found`: there is no such resource in the key's organization and environment."}
_OF_FILTERS = {"422": "`validation_error`: a filter is unreadable."}
_OF_BODIES = {
    "413": "`payload_too_large`",
    "415": "`unsupported_media_type`",
    "422": "`validation_error`, naming every problem; or `identity_declaration_required`.",
}
_OF_PLANS = {"403": "`initials_not_available_on_plan`, or `forbidden` for what else the plan does not include."}
_BY_OPERATION = {
    "uploadDocument": _OF_BODIES,
    "createSignatureRequest": _OF_BODIES | _OF_PLANS,
    "listDocuments": _OF_FILTERS,
    "listSignatureRequests": _OF_FILTERS,
    "readDocument": _OF_RESOURCES,
    "readSignatureRequest": _OF_RESOURCES,
    "listAuditLogs": _OF_RESOURCES,
}


@cache
def document() -> bytes:
    """The document in JSON."""
    content: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema(path_prefix="/api/v1")))
    components = content["components"]
    components["schemas"] |= creation_schemas() | _error_schemas()
    components["securitySchemes"] = {"ApiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}}
    content["security"] = [{"ApiKey": []}]
    for operations in content["paths"].values():
        for operation in operations.values():
            _complete(operation)
    return json.dumps(content).encode()


def _error_schemas() -> dict[str, Any]:
    schema = Error.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "Error": schema}


def _complete(operation: dict[str, Any]) -> None:
    """Adds the refusals that any call, and this one, may meet, and the headers of every answer but 401."""
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for status, description in sorted((_REFUSALS | _BY_OPERATION.get(operation["operationId"], {})).items()):
        operation["responses"][status] = {"description": description, "content": error}
    for status, response in operation["responses"].items():
        if str(status) != "401":
            response["headers"] = {
                name: {"description": description, "schema": {"type": "integer"}}
                for name, description in _LIMIT_HEADERS.items()
            }
