"""What clients may rely on (rule 9): nothing of v1 is taken back, renamed or given another type.

``v1.json`` is v1 as it was first documented. Whatever is added to the API passes here; whatever is missing here breaks
clients, and belongs in another version.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.api.v1 import contract

PROMISED = json.loads((Path(__file__).parent / "v1.json").read_text())


def kinds(facts: dict[str, Any]) -> list[str]:
    """Return the types that a field may have: JSON types, arrays with the types of their items, or names of schemas."""
    for name in ("anyOf", "oneOf"):
        if name in facts:
            return sorted(kind for each in facts[name] for kind in kinds(each))
    if "$ref" in facts:
        return [facts["$ref"].rpartition("/")[2]]
    if facts.get("type") == "array":
        return [f"array of {kind}" for kind in kinds(facts["items"])]
    return [facts.get("type", "any")]


def told() -> dict[str, Any]:
    """Return the operations, and for every schema its fields with their types, required fields and enumerations."""
    content = contract.content()
    schemas = {
        name: {
            "fields": {field: kinds(facts) for field, facts in schema["properties"].items()},
            "required": sorted(schema.get("required", [])),
            "enumerations": {
                field: facts[name]
                for field, facts in schema["properties"].items()
                for name in ("enum", "x-extensible-enum")
                if name in facts
            },
        }
        for name, schema in content["components"]["schemas"].items()
    }
    operations = sorted(f"{method} {path}" for method, path, _ in contract.operations())
    return {"operations": operations, "schemas": schemas}


@pytest.mark.parametrize("name", PROMISED["schemas"])
def test_no_field_is_taken_back(name: str) -> None:
    before, now = PROMISED["schemas"][name], told()["schemas"][name]
    for field, promised in before["fields"].items():
        kept = now["fields"].get(field, [])
        assert set(promised) <= set(kept) if name in sent() else promised == kept, field  # more may be accepted
    for field, values in before["enumerations"].items():
        assert set(values) <= set(now["enumerations"][field])


@pytest.mark.parametrize("name", PROMISED["schemas"])
def test_what_was_always_there_is_and_no_more_is_wanted(name: str) -> None:
    before, now = set(PROMISED["schemas"][name]["required"]), set(told()["schemas"][name]["required"])
    assert now <= before if name in sent() else before <= now


def sent() -> set[str]:
    """Return the names of the schemas of what clients send."""
    found: set[str] = set()
    waiting = [operation.get("requestBody") for _method, _path, operation in contract.operations()]
    while waiting:
        names = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(waiting.pop()))) - found
        found |= names
        waiting += [contract.content()["components"]["schemas"][name] for name in names]
    return found


def test_no_operation_is_taken_back() -> None:
    assert set(PROMISED["operations"]) <= set(told()["operations"])
    assert all(operation.partition(" ")[2].startswith("/api/v1/") for operation in told()["operations"])
