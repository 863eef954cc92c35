"""Reading the fields of JSON objects, each problem named with its path. Unknown fields are ignored."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.utils.translation import gettext as _

from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import InvalidValueError, mapping

T = TypeVar("T")


class Fields:
    """The fields of one JSON object at a path."""

    def __init__(self, value: dict[str, Any], path: str, problems: Problems) -> None:
        self._value = value
        self._path = path
        self._problems = problems

    def path(self, name: str = "") -> str:
        """The path of a field, or of the object itself."""
        return f"{self._path}.{name}" if self._path and name else self._path or name

    def required(self, name: str, read: Callable[[Any], T]) -> T | None:
        """The field as ``read`` reads it, None after naming its problem."""
        if name not in self._value:
            self.refuse(name, _("it is required."))
            return None
        return self._read(name, read)

    def optional(self, name: str, read: Callable[[Any], T], default: T, *, nullable: bool = False) -> T | None:
        """The default where the field is absent, or null if it may be; else as :meth:`required`."""
        if name not in self._value or (nullable and self._value[name] is None):
            return default
        return self._read(name, read)

    def get(self, name: str) -> Any:
        """Whatever stands there, None if nothing does."""
        return self._value.get(name)

    def fields(self, name: str) -> "Fields | None":
        """The fields of the object at ``name``."""
        value = self.required(name, mapping)
        return None if value is None else Fields(value, self.path(name), self._problems)

    def refuse(self, name: str, sentence: str) -> None:
        self._problems.add(self.path(name), sentence)

    def _read(self, name: str, read: Callable[[Any], T]) -> T | None:
        try:
            return read(self._value[name])
        except InvalidValueError as problem:
            self.refuse(name, str(problem))
            return None


def entries(values: list[Any], path: str, problems: Problems) -> list[Fields | None]:
    """The fields of each object of an array, None for what is no object."""
    found: list[Fields | None] = []
    for index, value in enumerate(values):
        here = f"{path}[{index}]"
        try:
            found.append(Fields(mapping(value), here, problems))
        except InvalidValueError as problem:
            problems.add(here, str(problem))
            found.append(None)
    return found
