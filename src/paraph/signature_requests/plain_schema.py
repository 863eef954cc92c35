"""JSON schemas of pydantic's models as the signer's part of the reference has them: without titles and references."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode

Schema = dict[str, Any]

_ORDER = ("type", "const", "required", "properties", "items", "minItems", "maxItems", "minimum", "maximum", "default")
_LEFT_OUT = ("title", "discriminator", "$defs", "$ref")
_NULL = {"type": "null"}


def plain_schema(model: type[BaseModel], mode: JsonSchemaMode = "validation") -> Schema:
    """Return the schema of a model, with its references replaced by what they refer to. A field whose default is null
    has no variant for null, which counts as absent."""
    schema = model.model_json_schema(mode=mode)
    return _plain({name: each for name, each in schema.items() if name != "description"}, schema.get("$defs", {}))


def _plain(part: Schema, named: dict[str, Schema]) -> Schema:
    if "$ref" in part:
        target = named[part["$ref"].rpartition("/")[2]]
        part = {name: each for name, each in target.items() if name != "description"} | part
    if part.get("default", "") is None:
        present = [each for each in part.get("anyOf", []) if each != _NULL]
        part = {name: each for name, each in part.items() if name not in ("default", "anyOf")}
        return _plain(present[0] | part if len(present) == 1 else part | {"anyOf": present} if present else part, named)
    plain = {name: part[name] for name in sorted(part, key=_rank) if name not in _LEFT_OUT}
    if "properties" in plain:
        plain["properties"] = {name: _plain(each, named) for name, each in plain["properties"].items()}
    if "items" in plain:
        plain["items"] = _plain(plain["items"], named)
    return plain | {name: [_plain(each, named) for each in plain[name]] for name in ("anyOf", "oneOf") if name in plain}


def _rank(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else len(_ORDER)
