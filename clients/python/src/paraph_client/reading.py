"""Reading the JSON of an answer as what :mod:`paraph_client.answers` names."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


def reader(kind: type[T]) -> Callable[[Any], T]:
    """A function that reads values of this kind: data classes from objects, times from text, all else as it is."""

    def read(value: Any) -> T:
        found: T = _read(kind, value)
        return found

    return read


def _read(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    arguments = get_args(kind)
    if NoneType in arguments:
        return _read(arguments[0], value)
    if get_origin(kind) is list:
        return [_read(arguments[0], each) for each in value]
    if kind is datetime:
        return datetime.fromisoformat(value)
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**{name: _read(each, value[name]) for name, each in _fields(kind).items() if name in value})
    return value


@cache
def _fields(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}
