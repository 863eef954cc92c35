"""Dataclasses as plain JSON and back, by the types of their fields, for messages between processes.

Bytes travel as base64, times as ISO 8601. A value of another type than its field's is refused, whoever sent it.
"""

import dataclasses
import types
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Value = TypeVar("Value")


def to_plain(value: Any) -> Any:
    """Return what :mod:`json` can write of the value: of a dataclass, an object with all of its fields."""
    if dataclasses.is_dataclass(value):
        return {each.name: to_plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value


def from_plain(kind: type[Value], plain: Any) -> Value:
    """Reverse :func:`to_plain` for a value of the type ``kind``. Raise ``TypeError`` or ``ValueError`` for anything
    else."""
    return cast(Value, _read(kind, plain))


def _read(kind: Any, plain: Any) -> Any:
    read = _READERS.get(get_origin(kind) or kind)
    if read:
        return read(get_args(kind), plain)
    return _dataclass(kind, plain) if dataclasses.is_dataclass(kind) else _of(kind, plain)


def _dataclass(kind: Any, plain: Any) -> Any:
    hints = get_type_hints(kind)
    names = [each.name for each in dataclasses.fields(kind)]
    if _of(dict, plain).keys() != set(names):
        raise TypeError(f"these are not the fields of {kind.__name__}")
    return kind(**{name: _read(hints[name], plain[name]) for name in names})


def _of_union(kinds: tuple[Any, ...], plain: Any) -> Any:
    if plain is None and type(None) in kinds:
        return None
    (kind,) = (each for each in kinds if each is not type(None))  # of several, nobody could tell which one is meant
    return _read(kind, plain)


def _list(kinds: tuple[Any, ...], plain: Any) -> list[Any]:
    return [_read(kinds[0], item) for item in _of(list, plain)]


def _tuple(kinds: tuple[Any, ...], plain: Any) -> tuple[Any, ...]:
    items = _of(list, plain)
    if kinds[1:] == (Ellipsis,):
        return tuple(_read(kinds[0], item) for item in items)
    return tuple(_read(kind, item) for kind, item in zip(kinds, items, strict=True))


def _dictionary(kinds: tuple[Any, ...], plain: Any) -> dict[str, Any]:
    return {key: _read(kinds[1], item) for key, item in _of(dict, plain).items()}


def _one_of(words: tuple[Any, ...], plain: Any) -> Any:
    if plain not in words:
        raise ValueError("a word that is not known")
    return plain


def _of(kind: type, plain: Any) -> Any:
    if type(plain) is not kind:
        raise TypeError(f"{type(plain).__name__} in the place of {kind.__name__}")
    return plain


_READERS: dict[Any, Callable[[tuple[Any, ...], Any], Any]] = {
    Union: _of_union,
    types.UnionType: _of_union,
    Literal: _one_of,
    list: _list,
    Sequence: _list,
    tuple: _tuple,
    dict: _dictionary,
    Mapping: _dictionary,
    bytes: lambda _, plain: b64decode(_of(str, plain), validate=True),
    datetime: lambda _, plain: datetime.fromisoformat(_of(str, plain)),
}
