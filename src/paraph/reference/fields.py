"""JSON schemas as rows of a table: each field with its type and its limits, followed by the fields within it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe


def inline(text: str) -> SafeString:
    """HTML of one paragraph, without its tags."""
    joined = escape(" ".join(text.split()))
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", joined))  # noqa: S308  escaped above


def paragraphs(text: str) -> SafeString:
    """HTML of paragraphs that empty lines separate."""
    html = "".join(f"<p>{inline(each)}</p>" for each in re.split(r"\n\s*\n", text.strip()))
    return mark_safe(html)  # noqa: S308  inline() escapes


def breakable(name: str) -> SafeString:
    """HTML of a name that a narrow screen may break after an underscore."""
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
    """Make the rows. ``schemas``: the component schemas of the OpenAPI document."""

    def __init__(self, schemas: dict[str, JsonObject]) -> None:
        self._schemas = schemas
        self._told: dict[str, tuple[str, str]] = {}

    def told_before(self, schema: JsonObject, anchor: str, title: str) -> tuple[str, str] | None:
        """Return the anchor and the title under which the fields of a component schema are shown already; the first
        time, these are kept."""
        place = (anchor, title)
        found = self._told.setdefault(schema["$ref"], place) if "$ref" in schema else place
        return None if found == place else found

    def rows(self, schema: JsonObject, above: str = "") -> Iterator[FieldRow]:
        """Yield the fields of an object schema, each followed by the fields within it."""
        schema = self._resolved(schema)
        for name, field in schema.get("properties", {}).items():
            yield self.row(name, field, required=name in schema.get("required", []), above=above)
            yield from self._within(field, f"{above}{name}")

    def row(self, name: str, field: JsonObject, *, required: bool, above: str = "") -> FieldRow:
        """One field. A description of ``field`` itself wins over that of the schema to which it refers."""
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
        """Return the schema of a field; of a nullable one, that of its other variant."""
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
