"""Variants of the shape of a creation, whose fields are those of the creation."""

from collections.abc import Collection
from copy import copy
from typing import Annotated, Any, get_args

from pydantic import BaseModel

from paraph.signature_requests.input import SignatureRequestInput
from paraph.signature_requests.input_types import OrNull

OPTIONS = tuple(name for name in SignatureRequestInput.model_fields if name not in ("signers", "documents"))
"""What a creation says beside who signs what."""


def fields_of(shape: type[BaseModel], names: Collection[str], *, optional: bool = False) -> dict[str, Any]:
    """Return the fields of those names as :func:`pydantic.create_model` takes them; ``optional``: each may be absent or
    null, and is null then."""
    fields: dict[str, Any] = {}
    for name in names:
        field = copy(shape.model_fields[name])
        kind: Any = field.annotation
        if optional:
            for each in field.metadata:
                kind = kind if each is OrNull else Annotated[kind, each]
            kind = kind if type(None) in get_args(kind) else kind | None
            field.default, field.metadata, field.default_factory = None, [], None
        fields[name] = (kind, field)
    return fields


def options_of(value: dict[str, Any]) -> dict[str, Any]:
    """Return the options that a value names; null counts as absent."""
    return {name: value[name] for name in OPTIONS if value.get(name) is not None}
