"""Every answer that a test gets is checked against the OpenAPI document, to the letter: a field, a status, a code or a
header that the document does not describe is a fault."""

import json
import re
from copy import deepcopy
from functools import cache
from typing import Any

from jsonschema_rs import Draft202012Validator

from paraph.api.v1.openapi import document

Part = dict[str, Any]


@cache
def content() -> Part:
    return dict(json.loads(document()))


def operations() -> list[tuple[str, str, Part]]:
    """Return method, path and description of each operation."""
    paths = content()["paths"].items()
    return [(method.upper(), path, each) for path, methods in paths for method, each in methods.items()]


@cache
def validator(name: str) -> Draft202012Validator:
    """Return the validator of the schema of that name, which allows no field beyond those that the schema names."""
    return _validator({"$ref": f"#/components/schemas/{name}"})


def is_of(schema: Part, value: Any) -> bool:
    """Whether the value fits the schema, with no field beyond those that the schema names."""
    return _validator(closed(schema)).is_valid(value)


def _validator(schema: Part) -> Draft202012Validator:
    schemas = closed(content()["components"]["schemas"])
    return Draft202012Validator({**schema, "components": {"schemas": schemas}}, validate_formats=True)


def closed(part: Any) -> Any:
    """Return the same schemas, which now refuse the fields that they do not name."""
    if isinstance(part, dict):
        part = {name: closed(value) for name, value in part.items()}
        if isinstance(part.get("properties"), dict) and part.get("type") == "object":
            part["additionalProperties"] = False
    return [closed(each) for each in part] if isinstance(part, list) else part


def check(method: str, path: str, response: Any) -> None:
    """Assert that the document promises such an answer for the call. ``path`` begins after ``/api/v1``."""
    operation = _operation(method, path)
    if operation is None:
        assert response.status_code >= 400 or path == "/openapi.json"
        documented = None
    else:
        documented = operation["responses"].get(str(response.status_code))
        if response.status_code != 405:
            assert documented, f"{method} {path} answers {response.status_code}"
    if documented:
        _headers(documented["headers"], response)
    if method == "HEAD" or path == "/openapi.json":
        return
    if documented and "content" not in documented:
        assert (response.content, response.headers.get("Content-Type")) == (b"", None)
        return
    body = response.json()
    schema = documented["content"]["application/json"]["schema"] if documented else {"$ref": "/Error"}
    validator(schema["$ref"].rpartition("/")[2]).validate(body)
    if documented and response.status_code >= 400:
        examples = documented["content"]["application/json"]["examples"].values()
        assert body["error"]["code"] in {example["value"]["error"]["code"] for example in examples}


def refusals(name: str) -> dict[str, str]:
    """Return the messages that the document has for an operation's refusals, by the names of their examples."""
    [operation] = [each for _method, _path, each in operations() if each["operationId"] == name]
    return {
        example: facts["value"]["error"]["message"]
        for status, response in operation["responses"].items()
        if status >= "400"
        for example, facts in response["content"]["application/json"]["examples"].items()
    }


def said(operation: str, name: str) -> str:
    """Return the message of the operation's example of that name."""
    return refusals(operation)[name]


def resolved(part: Part) -> Part:
    """The part itself, or what its reference leads to."""
    if "$ref" not in part:
        return part
    found: Any = content()
    for name in part["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return dict(deepcopy(found))


def _operation(method: str, path: str) -> Part | None:
    for template, operations in content()["paths"].items():
        pattern = re.sub(r"\\\{.*?\\\}", r"[1-9][0-9]{0,17}", re.escape(template))
        if re.fullmatch(pattern, f"/api/v1{path}".partition("?")[0]):
            found: Part | None = operations.get("get" if method == "HEAD" else method.lower())
            return found
    return None


def _headers(documented: Part, response: Any) -> None:
    for name, header in documented.items():
        facts = resolved(header)
        assert name in response or not facts["required"], name
        if name in response:
            value = int(response[name]) if facts["schema"]["type"] == "integer" else response[name]
            Draft202012Validator(facts["schema"]).validate(value)
    limits = {name for name in response.headers if name.startswith("X-RateLimit") or name == "Retry-After"}
    assert limits <= set(documented)
