"""Fields of a payload that its shape does not have: refused where they look misspelt or the shape is closed, else
passed over."""

from collections.abc import Collection, Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from django.utils.translation import gettext as _
from pydantic import ConfigDict

from paraph.kernel.spelling import nearest
from paraph.signature_requests.input_types import Input
from paraph.signature_requests.problems import Problems

MOST_TOLD = 50


class ClosedInput(Input):
    """A shape with no fields but its own."""

    model_config = ConfigDict(extra="forbid")


def look_for_unknown(value: object, shape: Any, path: str, problems: Problems, passed_over: list[str]) -> None:
    """Add a problem for each field of a closed shape that it does not have, and for each of another one that is within
    two letters of one that it has; the paths of the rest to ``passed_over``, which ends the search when there are
    :data:`MOST_TOLD`. What is of another type than the shape says is left to others."""
    if isinstance(value, list):
        for entry_shape in _entries(shape):
            for index, entry in enumerate(value):
                look_for_unknown(entry, entry_shape, f"{path}[{index}]", problems, passed_over)
        return
    shapes = [each for each in _variants(shape) if isinstance(each, type) and issubclass(each, Input)]
    if not shapes or not isinstance(value, dict):
        return
    fields = {name: field for each in shapes for name, field in each.model_fields.items()}
    for name, each in value.items():
        if problems.full or len(passed_over) >= MOST_TOLD:
            return
        here = f"{path}.{name}".removeprefix(".")
        if name in fields:
            kinds = [kind.model_fields[name].annotation for kind in shapes if name in kind.model_fields]
            look_for_unknown(each, Union[tuple(kinds)], here, problems, passed_over)  # noqa: UP007  at run time
        elif sentence := _sentence(name, fields, closed=any(issubclass(kind, ClosedInput) for kind in shapes)):
            problems.add(here[:200], sentence)
        else:
            passed_over.append(here[:200])


def _sentence(name: str, fields: Collection[str], *, closed: bool) -> str:
    if meant := nearest(name, fields):
        return _("there is no such field here; did you mean %(name)s?") % {"name": meant}
    return _("there is no such field here.") if closed else ""


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
