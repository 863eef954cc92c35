"""An operation of an OpenAPI document as the page shows it."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from django.utils.safestring import SafeString
from django.utils.text import slugify

from paraph.api.v1.openapi.examples import TRIED
from paraph.reference.fields import FieldRow, JsonObject, SchemaReader, breakable, inline, paragraphs

Samples = dict[str, dict[str, str]]

_CURL_QUERIES = {
    "listDocuments": "?created_after=2026-01-31&order=desc&limit=50",
    "listSignatureRequests": "?status=pending&order=desc",
    "listAuditLogs": "?limit=100",
    "listTemplates": "?limit=100",
    "listEvents": "?limit=100",
}


def _read_samples(text: str) -> dict[str, Samples]:
    """Return the code to paste of ``samples.md``: by section, by name and by language."""
    found: dict[str, Samples] = {}
    section, name, language, code = "", "", "", list[str]()
    for line in text.splitlines():
        if language and line == "```":
            found.setdefault(section, {}).setdefault(name, {})[language] = "\n".join(code)
            language, code = "", []
        elif language:
            code.append(line)
        elif line.startswith("```"):
            language = line.removeprefix("```").split()[-1]  # what comes before is for editors
        elif line.startswith("# "):
            section = line.removeprefix("# ")
        elif line.startswith("## "):
            name = line.removeprefix("## ")
    return found


_FOUND = _read_samples(Path(__file__).with_name("samples.md").read_text("utf-8"))
OPERATION_SAMPLES, SIGNER_SAMPLES, GUIDE_SAMPLES = (_FOUND[section] for section in ("Operations", "Signer", "Guides"))
_LANGUAGES = {"curl": "curl", "python": "Python", "typescript": "TypeScript"}


@dataclass(frozen=True)
class Sample:
    """Code to paste. ``id``: of its element."""

    id: str
    language: str
    text: str


@dataclass(frozen=True)
class JsonExample:
    title: SafeString
    text: str


@dataclass(frozen=True)
class RefusalExample:
    name: str
    status: str
    code: str
    when: SafeString
    message: str

    @property
    def shown_code(self) -> SafeString:
        """The code as HTML that a narrow screen may break after an underscore."""
        return breakable(self.code)


@dataclass(frozen=True)
class OperationEntry:
    """A call of the API, an endpoint of the signer, or a webhook, which has no answers, refusals and samples.
    ``body_as`` and ``answered_as``: the anchor and the summary of another call that has the same fields there.
    ``tried``: the body of JSON that it is tried with."""

    id: str
    method: str
    path: str
    summary: str
    description: SafeString
    parameters: list[FieldRow]
    headers: list[FieldRow]
    body: list[FieldRow]
    body_as: tuple[str, str] | None
    bodies: list[JsonExample]
    takes: str
    status: str
    answered: SafeString
    answer: list[FieldRow]
    answered_as: tuple[str, str] | None
    answers: list[JsonExample]
    refusals: list[RefusalExample]
    samples: list[Sample]
    tried: str


def read_operation(reader: SchemaReader, name: str, method: str, path: str, operation: JsonObject) -> OperationEntry:
    """``name`` is the anchor, and what the samples are found by."""
    takes, body = _body(operation)
    status, response = _success(operation)
    answer: JsonObject = response.get("content", {}).get("application/json", {})
    same_body, same = (
        reader.told_before(each.get("schema", {}), name, operation["summary"]) for each in (body, answer)
    )
    given = operation.get("parameters", [])
    of_call = {**OPERATION_SAMPLES, **SIGNER_SAMPLES}.get(name, {})
    if path.startswith("/api/"):
        of_call = {"curl": _curl(name, method, path, operation), **of_call}
    parameters = [_parameter(reader, each) for each in given if each.get("in") != "header"]
    headers = [_parameter(reader, each) for each in given if each.get("in") == "header"]
    return OperationEntry(
        id=name,
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=paragraphs(operation["description"]),
        parameters=list(_anchored(parameters, f"{name}-parameter")),
        headers=list(_anchored(headers, f"{name}-header")),
        body=[] if same_body else list(_anchored(reader.rows(body.get("schema", {})), f"{name}-body")),
        body_as=same_body,
        bodies=[] if "file" in body.get("schema", {}).get("properties", {}) else _examples(body),
        takes=takes,
        status=status,
        answered=inline(response.get("description", "")),
        answer=[] if same else list(_anchored(reader.rows(answer.get("schema", {})), f"{name}-answer")),
        answered_as=same,
        answers=_examples(answer),
        refusals=_refusals(operation),
        samples=[Sample(f"{each}-{name}", _LANGUAGES[each], text) for each, text in of_call.items()],
        tried=_tried(name, body),
    )


def _curl(name: str, method: str, path: str, operation: JsonObject) -> str:
    """Return the call of the API with curl, about what the examples make, with its first example as the body."""
    address = path.removeprefix("/api/v1") + _CURL_QUERIES.get(name, "")
    for each in operation["parameters"]:
        address = address.replace(f"{{{each['name']}}}", str(each.get("example")))
    media, body = _body(operation)
    call, given = "curl -s", []
    if media == "multipart/form-data":
        given = ['-F "file=@lease.pdf;type=application/pdf"']
    elif operation.get("requestBody", {}).get("required"):
        given = [f'-H "Content-Type: {media}"', f"-d '{_examples(body)[0].text}'"]
    elif method != "get":
        call += f" -X {method.upper()}"
    return " \\\n  ".join([f'{call} "$API{address}"', '-H "X-Api-Key: $KEY"', *given])


def _tried(name: str, body: JsonObject) -> str:
    """Return the body of JSON that a call is tried with; "" for one without."""
    examples: list[JsonObject] = [each["value"] for each in body.get("examples", {}).values()]
    return _indented(TRIED.get(name, examples[0])) if examples else ""


def _body(operation: JsonObject) -> tuple[str, JsonObject]:
    """Return the content type of the body, and what is said of it."""
    content: JsonObject = operation.get("requestBody", {}).get("content", {})
    return next(iter(content.items()), ("", {}))


def _success(operation: JsonObject) -> tuple[str, JsonObject]:
    found = {code: each for code, each in operation["responses"].items() if code < "400"}
    return next(iter(found.items()), ("", {}))


def _parameter(reader: SchemaReader, parameter: JsonObject) -> FieldRow:
    field = {**parameter["schema"], "description": parameter["description"]}
    example = parameter.get("example", "")
    return replace(
        reader.row(parameter["name"], field, required=parameter["required"]),
        example=example if isinstance(example, str) else json.dumps(example),  # as the query has it: false, 50
    )


def _anchored(rows: Iterable[FieldRow], prefix: str) -> Iterator[FieldRow]:
    """Yield the rows with anchors to link to. Of fields by one name in several variants, the first has it."""
    seen = set()
    for row in rows:
        anchor = f"{prefix}-{row.path}"
        yield replace(row, anchor="" if anchor in seen else anchor)
        seen.add(anchor)


def _examples(media: JsonObject) -> list[JsonExample]:
    return [
        JsonExample(inline(each["summary"]), _indented(each["value"])) for each in media.get("examples", {}).values()
    ]


def _indented(content: JsonObject) -> str:
    """JSON with the points of drawings on a line each."""
    return re.sub(r"\[\s+([\d.]+),\s+([\d.]+)\s+\]", r"[\1, \2]", json.dumps(content, ensure_ascii=False, indent=2))


def _refusals(operation: JsonObject) -> list[RefusalExample]:
    return [
        RefusalExample(slugify(name), status, error["code"], inline(example["summary"]), error["message"])
        for status, response in operation["responses"].items()
        if status.isdigit() and status >= "400"
        for name, example in response["content"]["application/json"]["examples"].items()
        for error in [example["value"]["error"]]
    ]
