"""The contents of the page, taken from the OpenAPI document."""

import json
from dataclasses import dataclass

from django.conf import settings
from django.utils.safestring import SafeString
from django.utils.text import slugify

from paraph.api.v1.openapi.document import document
from paraph.organizations.plans import ALLOWANCES, PRODUCTION_RATES, SANDBOX_RATE
from paraph.reference import snippets
from paraph.reference.fields import FieldRow, JsonObject, SchemaReader
from paraph.reference.prose import inline, paragraphs


@dataclass(frozen=True)
class JsonExample:
    title: SafeString
    text: str


@dataclass(frozen=True)
class RefusalExample:
    status: str
    code: str
    when: SafeString
    message: str


@dataclass(frozen=True)
class OperationEntry:
    """A call of the API, or a webhook, which has no answers, refusals and snippets."""

    id: str
    method: str
    path: str
    summary: str
    description: SafeString
    parameters: list[FieldRow]
    body: list[FieldRow]
    bodies: list[JsonExample]
    status: str
    answered: SafeString
    answer: list[FieldRow]
    answers: list[JsonExample]
    refusals: list[RefusalExample]
    curl: str
    python: str


@dataclass(frozen=True)
class OperationGroup:
    id: str
    name: str
    description: SafeString
    operations: list[OperationEntry]


def contents() -> JsonObject:
    """The context of the template."""
    content: JsonObject = json.loads(document())
    reader = SchemaReader(content["components"]["schemas"])
    address = settings.PARAPH.public_url
    return {
        "info": content["info"],
        "description": paragraphs(content["info"]["description"]),
        "address": address,
        "sections": _sections(content, reader),
        "webhooks": [
            _operation(reader, f"webhook-{event.replace('.', '-')}", "post", event, path["post"])
            for event, path in content["webhooks"].items()
        ],
        "headers": {name: inline(each["description"]) for name, each in content["components"]["headers"].items()},
        "errors": _errors(content),
        "rates": [("Sandbox, every plan", SANDBOX_RATE)]
        + [
            (f"Production, {plan.label}", rate)
            for plan, rate in PRODUCTION_RATES.items()
            if ALLOWANCES[plan].production
        ],
        "plans": [(plan.label, allowance) for plan, allowance in ALLOWANCES.items()],
        "upload_limit": settings.PARAPH.upload_limit_mb,
        "setup_curl": snippets.SETUP_CURL.format(address=address),
        "setup_python": snippets.SETUP_PYTHON.format(address=address),
        "snippets": snippets,
    }


def _sections(content: JsonObject, reader: SchemaReader) -> list[OperationGroup]:
    sections = {
        tag["name"]: OperationGroup(slugify(tag["name"]), tag["name"], paragraphs(tag["description"]), [])
        for tag in content["tags"]
        if tag["name"] != "Webhooks"
    }
    for path, operations in content["paths"].items():
        for method, operation in operations.items():
            shown = _operation(reader, operation["operationId"], method, path, operation)
            sections[operation["tags"][0]].operations.append(shown)
    return list(sections.values())


def _operation(reader: SchemaReader, anchor: str, method: str, path: str, operation: JsonObject) -> OperationEntry:
    body: JsonObject = next(iter(operation.get("requestBody", {}).get("content", {}).values()), {})
    success: dict[str, JsonObject] = {
        code: each for code, each in operation["responses"].items() if "content" in each and code < "400"
    }
    status = next(iter(success), "")
    response = success.get(status, {})
    answer: JsonObject = response.get("content", {}).get("application/json", {})
    return OperationEntry(
        id=anchor,
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=paragraphs(operation["description"]),
        parameters=[_parameter(reader, each) for each in operation.get("parameters", [])],
        body=list(reader.rows(body.get("schema", {}))),
        bodies=[] if "file" in body.get("schema", {}).get("properties", {}) else _examples(body),
        status=status,
        answered=inline(response.get("description", "")),
        answer=list(reader.rows(answer.get("schema", {}))),
        answers=_examples(answer),
        refusals=_refusals(operation),
        curl=snippets.CURL.get(anchor, ""),
        python=snippets.PYTHON.get(anchor, ""),
    )


def _parameter(reader: SchemaReader, parameter: JsonObject) -> FieldRow:
    field = {**parameter["schema"], "description": parameter["description"]}
    return reader.row(parameter["name"], field, required=parameter["required"])


def _examples(media: JsonObject) -> list[JsonExample]:
    return [
        JsonExample(inline(each["summary"]), json.dumps(each["value"], ensure_ascii=False, indent=2))
        for each in media.get("examples", {}).values()
    ]


def _refusals(operation: JsonObject) -> list[RefusalExample]:
    return [
        RefusalExample(status, error["code"], inline(example["summary"]), error["message"])
        for status, response in operation["responses"].items()
        if status.isdigit() and status >= "400"
        for example in response["content"]["application/json"]["examples"].values()
        for error in [example["value"]["error"]]
    ]


def _errors(content: JsonObject) -> list[tuple[str, str, SafeString]]:
    """Each status and error code once, with its general meaning."""
    found = {
        ("405", "method_not_allowed"): inline("The route does not answer this method; `Allow` names those it does.")
    }
    for operations in content["paths"].values():
        for operation in operations.values():
            for refusal in _refusals(operation):
                found.setdefault((refusal.status, refusal.code), refusal.when)
    found |= {
        (status, code): inline(meaning) for (status, code), meaning in _GENERAL.items() if (status, code) in found
    }
    return [(status, code, meaning) for (status, code), meaning in sorted(found.items())]


_GENERAL = {
    ("403", "forbidden"): "The plan does not include what was asked for.",
    ("413", "payload_too_large"): "The file or body is larger than allowed.",
    ("415", "unsupported_media_type"): "The body is of another content type than the route reads.",
    ("422", "validation_error"): "Anything wrong with a body, a file or a filter. The message names every problem.",
}
