"""Fields of a payload that its shape does not have: refused where they look misspelt or the shape is closed, else
passed over."""

from collections.abc import Iterable, Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from django.utils.translation import gettext as _
from pydantic import ConfigDict

from paraph.kernel.spelling import nearest
from paraph.signature_requests.input_types import Input
from paraph.signature_requests.problems import Problems

MOST_TOLD = 50


Shapes = tuple[type[Input], ...]
"""Alternatives."""


class ClosedInput(Input):
    """A shape with no fields but its own."""

    model_config = ConfigDict(extra="forbid")


def look_for_unknown(value: object, shape: type[Input], path: str, problems: Problems, passed_over: list[str]) -> None:
    """Add a problem for each field of a closed shape that it does not have, and for each of another one that is within
    two letters of one that it has; the paths of the rest to ``passed_over``, which ends the search when there are
    :data:`MOST_TOLD`. What is of another type than the shape says is left to others."""
    _look(value, (shape,), path, problems, passed_over)


def look_beside(
    content: Iterable[str], root: str, shape: type[Input], problems: Problems, passed_over: list[str]
) -> None:
    """Look at the other keys of a body with everything under its ``root`` key, of which the value has the ``shape``:
    as :func:`look_for_unknown` does, and what is or looks like a field of the shape is a problem too, as it would be
    lost."""
    fields = _fields((shape,))
    for name in content:
        if problems.full or len(passed_over) >= MOST_TOLD:
            return
        here = _shown(name)
        if name == root:
            continue
        if nearest(name, (root,)):
            problems.add(here, _("there is no such field here; did you mean %(name)s?") % {"name": root})
        elif name in fields or nearest(name, fields):
            problems.add(here, _("it belongs within %(root)s.") % {"root": root})
        elif issubclass(shape, ClosedInput):
            problems.add(here, _("there is no such field here."))
        else:
            passed_over.append(here)


def _look(value: object, shapes: Shapes, path: str, problems: Problems, passed_over: list[str]) -> None:
    if not isinstance(value, dict):
        return
    fields = _fields(shapes)
    for name, each in value.items():
        if problems.full or len(passed_over) >= MOST_TOLD:
            return
        found = fields.get(name)
        here = f"{path}.{name}" if path else name
        if found is None:
            _tell(name, _shown(here), shapes, problems, passed_over)
        elif found.within:
            _look(each, found.within, here, problems, passed_over)
        elif found.entries and isinstance(each, list):
            for index, entry in enumerate(each):
                _look(entry, found.entries, f"{here}[{index}]", problems, passed_over)


def _tell(name: str, here: str, shapes: Shapes, problems: Problems, passed_over: list[str]) -> None:
    if meant := nearest(name, _fields(shapes)):
        problems.add(here, _("there is no such field here; did you mean %(name)s?") % {"name": meant})
    elif any(issubclass(shape, ClosedInput) for shape in shapes):
        problems.add(here, _("there is no such field here."))
    else:
        passed_over.append(here)


def _shown(path: str) -> str:
    return path[:200].encode("utf-8", "replace").decode()


def entry_of(shape: type[Input], name: str) -> type[Input] | None:
    """Return the shape of the entries of an array that the shape has by this name; None for any other field."""
    entries = _fields((shape,))[name].entries
    return entries[0] if entries else None


class _Field(NamedTuple):
    """The shapes of the object that a field holds, or of the entries of its array."""

    within: Shapes
    entries: Shapes


@cache
def _fields(shapes: Shapes) -> dict[str, _Field]:
    """Return by name the fields that one of the alternative shapes has."""
    kinds: dict[str, list[Any]] = {}
    for shape in shapes:
        for name, field in shape.model_fields.items():
            kinds.setdefault(name, []).extend(_variants(field.annotation))
    return {
        name: _Field(
            _inputs(each),
            _inputs(inner for kind in each if get_origin(kind) is list for inner in _variants(get_args(kind)[0])),
        )
        for name, each in kinds.items()
    }


def _inputs(kinds: Iterable[Any]) -> Shapes:
    return tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Input))


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
