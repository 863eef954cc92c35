"""Reading the fields of JSON objects, and naming each problem with its path. Unknown fields are ignored."""

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
        """Returns the path of a field, or of the object itself."""
        return f"{self._path}.{name}" if self._path and name else self._path or name

    def required(self, name: str, read: Callable[[Any], T]) -> T | None:
        """Returns the field as ``read`` reads it, None after adding its problem."""
        if name not in self._value:
            self.refuse(name, _("it is required."))
            return None
        return self._read(name, read)

    def optional(self, name: str, read: Callable[[Any], T], default: T, *, nullable: bool = True) -> T | None:
        """Returns ``default`` for a field that is absent or, unless ``nullable`` is false, null; else as
        :meth:`required`."""
        if name not in self._value or (nullable and self._value[name] is None):
            return default
        return self._read(name, read)

    def get(self, name: str) -> Any:
        """Returns the unchecked value of a field, None if it is absent."""
        return self._value.get(name)

    def fields(self, name: str) -> "Fields | None":
        """Returns the fields of the object at ``name``, None after adding its problem."""
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
    """Returns the fields of each object of an array, None for an entry that is no object."""
    read: list[Fields | None] = []
    for index, value in enumerate(values):
        here = f"{path}[{index}]"
        try:
            read.append(Fields(mapping(value), here, problems))
        except InvalidValueError as problem:
            problems.add(here, str(problem))
            read.append(None)
    return read
