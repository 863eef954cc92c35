"""Variants of the shape of a creation, whose fields are those of the creation, and the refusal of any other field."""

from collections.abc import Collection, Iterator
from copy import copy
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict

from paraph.signature_requests.input import SignatureRequestInput
from paraph.signature_requests.input_types import Input, OrNull
from paraph.signature_requests.problems import Problems


class ClosedInput(Input):
    """A shape with no fields but its own."""

    model_config = ConfigDict(extra="forbid")


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


def refuse_unknown(value: object, shape: Any, path: str, problems: Problems) -> None:
    """Add a problem for each key of the value that its shape does not have, within its objects and arrays too, where
    these are closed. What is of another type than the shape says is left to others."""
    if problems.full:
        return
    if isinstance(value, list):
        for entry_shape in _entries(shape):
            for index, entry in enumerate(value):
                refuse_unknown(entry, entry_shape, f"{path}[{index}]", problems)
        return
    found = _closed(shape)
    if found is None or not isinstance(value, dict):
        return
    for name, each in value.items():
        here = f"{path}.{name}".removeprefix(".")
        if name in found.model_fields:
            refuse_unknown(each, found.model_fields[name].annotation, here, problems)
        else:
            problems.add(here[:200], _("there is no such field here."))


def _closed(shape: Any) -> type[ClosedInput] | None:
    found = (each for each in _variants(shape) if isinstance(each, type) and issubclass(each, ClosedInput))
    return next(found, None)


def _entries(shape: Any) -> Iterator[Any]:
    for each in _variants(shape):
        if get_origin(each) is list:
            yield get_args(each)[0]


def _variants(shape: Any) -> Iterator[Any]:
    """Yield what a type is made of, without its annotations and alternatives."""
    origin = get_origin(shape)
    if origin is Annotated:
        yield from _variants(get_args(shape)[0])
    elif origin in (Union, UnionType):
        for each in get_args(shape):
            yield from _variants(each)
    else:
        yield shape
