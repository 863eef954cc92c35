"""An operation of an OpenAPI document as the page shows it, and its JSON schemas as rows of a table: each field with
its type and its limits, followed by the fields within it."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

from paraph.api.v1.openapi import TRIED


def inline(text: str) -> SafeString:
    """Return the HTML of one paragraph, without the tags around it."""
    joined = escape(" ".join(text.split()))
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", joined))  # noqa: S308  escaped above


def paragraphs(text: str) -> SafeString:
    """Return the HTML of paragraphs that empty lines separate."""
    html = "".join(f"<p>{inline(each)}</p>" for each in re.split(r"\n\s*\n", text.strip()))
    return mark_safe(html)  # noqa: S308  inline() escapes


def breakable(name: str) -> SafeString:
    """Return the HTML of a name that a narrow screen may break after an underscore."""
    return mark_safe(escape(name).replace("_", "_<wbr>"))  # noqa: S308  escaped


JsonObject = dict[str, Any]
_LONGEST_PATTERN = 40
_FORMATS = {"date-time": "timestamp", "uri": "URL", "email": "e-mail address", "uuid": "UUID"}


@dataclass(frozen=True)
class FieldRow:
    """A field. ``above``: the path of the field that contains it, such as ``signers[].``; ``depth``: the length of that
    path; ``anchor``: the id of its row; ``example``: a value to try."""

    above: str
    name: str
    kind: str
    required: bool
    description: SafeString
    limits: list[SafeString]
    anchor: str = ""
    example: str = ""

    @property
    def path(self) -> str:
        """Its name after those of the fields that contain it, such as ``signers.email``."""
        return f"{self.above}{self.name}".replace("[]", "")

    @property
    def depth(self) -> int:
        return self.above.count(".")

    @property
    def shown_name(self) -> SafeString:
        """The name as HTML that a narrow screen may break after an underscore."""
        return breakable(self.name)


class SchemaReader:
    """Make the rows of tables of fields. ``schemas``: the component schemas of the OpenAPI document."""

    def __init__(self, schemas: dict[str, JsonObject]) -> None:
        self._schemas = schemas
        self._shown: dict[str, tuple[str, str]] = {}

    def shown_before(self, schema: JsonObject, anchor: str, title: str) -> tuple[str, str] | None:
        """Return the anchor and the title under which the fields of a component schema are shown already. The first
        time, keep those given and return None."""
        place = (anchor, title)
        found = self._shown.setdefault(schema["$ref"], place) if "$ref" in schema else place
        return None if found == place else found

    def rows(self, schema: JsonObject, above: str = "") -> Iterator[FieldRow]:
        """Yield the fields of an object schema, each followed by the fields within it."""
        schema = self._resolved(schema)
        for name, field in schema.get("properties", {}).items():
            yield self.row(name, field, required=name in schema.get("required", []), above=above)
            yield from self._within(field, f"{above}{name}")

    def row(self, name: str, field: JsonObject, *, required: bool, above: str = "") -> FieldRow:
        """Return the row of a field. A description of ``field`` itself wins over one of the schema it refers to."""
        facts = self._facts(field)
        description = field.get("description") or facts.get("description", "")
        return FieldRow(above, name, self._kind(field), required, inline(description), list(_limits(facts)))

    def _within(self, field: JsonObject, path: str) -> Iterator[FieldRow]:
        for variant in self._variants(field):
            resolved = self._resolved(variant)
            if resolved.get("type") == "array":
                yield from self._within(resolved["items"], f"{path}[]")
            elif "properties" in resolved:
                yield from self.rows(resolved, f"{path}.")

    def _kind(self, field: JsonObject) -> str:
        kinds = [self._simple(variant) for variant in self._variants(field)]
        return " or ".join(dict.fromkeys(kinds))

    def _simple(self, field: JsonObject) -> str:
        field = self._resolved(field)
        if field.get("type") == "array":
            return f"array of {self._kind(field['items'])}"
        kinds = field.get("type", "any")
        return " or ".join(kinds) if isinstance(kinds, list) else str(_FORMATS.get(field.get("format", ""), kinds))

    def _facts(self, field: JsonObject) -> JsonObject:
        """Return the schema of a field; of a nullable one, with that of its other variant."""
        present = [self._resolved(each) for each in self._variants(field) if each.get("type") != "null"]
        return {**present[0], **field} if len(present) == 1 else field

    def _variants(self, field: JsonObject) -> list[JsonObject]:
        return list(field.get("anyOf") or field.get("oneOf") or [field])

    def _resolved(self, schema: JsonObject) -> JsonObject:
        return self._schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _limits(facts: JsonObject) -> Iterator[SafeString]:
    if "enum" in facts:
        yield inline("One of " + ", ".join(f"`{value}`" for value in facts["enum"]))
    if "const" in facts and "Always" not in facts.get("description", ""):
        value = facts["const"]
        yield inline(f"Always `{value if isinstance(value, str) else json.dumps(value)}`")
    if facts.get("format") == "date-time":
        return  # its kind says everything
    yield from _bounds(facts, "minLength", "maxLength", " characters")
    yield from _bounds(facts, "minItems", "maxItems", " entries")
    yield from _bounds(facts, "minimum", "maximum", "")
    if len(facts.get("pattern", "")) in range(1, _LONGEST_PATTERN):
        yield inline(f"Matches `{facts['pattern']}`")
    if facts.get("default") is not None:
        yield inline(f"Default `{json.dumps(facts['default'])}`")


def _bounds(facts: JsonObject, low_name: str, high_name: str, unit: str) -> Iterator[SafeString]:
    low, high = facts.get(low_name), facts.get(high_name)
    if high is not None and high >= 2**53:  # the width of a database column, which means nothing to readers
        high = None
    if low is not None and high is not None:
        yield inline(f"{low:g}{unit}" if low == high else f"{low:g} to {high}{unit}")
    elif high is not None:
        yield inline(f"At most {high}{unit}")
    elif low and not (low == 1 and unit):  # that a text is not empty goes without saying
        yield inline(f"At least {low:g}{unit}")


Samples = dict[str, dict[str, str]]

_CURL_QUERIES = {
    "listDocuments": "?created_after=2026-01-31&order=desc&limit=50",
    "listSignatureRequests": "?status=pending&order=desc",
    "listAuditLogs": "?limit=100",
    "listTemplates": "?limit=100",
    "listEvents": "?limit=100",
}


def _read_samples(text: str) -> dict[str, Samples]:
    """Return the code samples of ``samples.md`` by section, name and language."""
    found: dict[str, Samples] = {}
    section, name, language, code = "", "", "", list[str]()
    for line in text.splitlines():
        if language and line == "```":
            found.setdefault(section, {}).setdefault(name, {})[language] = "\n".join(code)
            language, code = "", []
        elif language:
            code.append(line)
        elif line.startswith("```"):
            language = line.removeprefix("```").split()[-1]  # what stands before it is for editors
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
    """Code to paste. ``id``: of its HTML element."""

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
    ``body_as`` and ``answered_as``: the anchor and the summary of another call with the same fields there. ``tried``:
    the JSON body to try it with."""

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
    """Return an operation to show. ``name`` is its anchor, and the name of its samples."""
    takes, body = _body(operation)
    responses: JsonObject = operation["responses"]
    status = next((code for code in responses if code < "400"), "")
    response: JsonObject = responses.get(status, {})
    answer: JsonObject = response.get("content", {}).get("application/json", {})
    same_body, same = (
        reader.shown_before(each.get("schema", {}), name, operation["summary"]) for each in (body, answer)
    )
    given = operation.get("parameters", [])
    tried: list[JsonObject] = [each["value"] for each in body.get("examples", {}).values()]
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
        tried=_indented(TRIED.get(name, tried[0])) if tried else "",
    )


def _curl(name: str, method: str, path: str, operation: JsonObject) -> str:
    """Return the call with curl, with the ids of the examples, and the first example as its body."""
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


def _body(operation: JsonObject) -> tuple[str, JsonObject]:
    """Return the content type of the body, and its schema and examples."""
    content: JsonObject = operation.get("requestBody", {}).get("content", {})
    return next(iter(content.items()), ("", {}))


def _parameter(reader: SchemaReader, parameter: JsonObject) -> FieldRow:
    field = {**parameter["schema"], "description": parameter["description"]}
    example = parameter.get("example", "")
    return replace(
        reader.row(parameter["name"], field, required=parameter["required"]),
        example=example if isinstance(example, str) else json.dumps(example),  # as the query has it: false, 50
    )


def _anchored(rows: Iterable[FieldRow], prefix: str) -> Iterator[FieldRow]:
    """Yield the rows with anchors to link to. Of fields of one name in several variants, only the first gets one."""
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
    """Return indented JSON, with each point of a drawing on a line."""
    return re.sub(r"\[\s+([\d.]+),\s+([\d.]+)\s+\]", r"[\1, \2]", json.dumps(content, ensure_ascii=False, indent=2))


def _refusals(operation: JsonObject) -> list[RefusalExample]:
    return [
        RefusalExample(slugify(name), status, error["code"], inline(example["summary"]), error["message"])
        for status, response in operation["responses"].items()
        if status.isdigit() and status >= "400"
        for name, example in response["content"]["application/json"]["examples"].items()
        for error in [example["value"]["error"]]
    ]
