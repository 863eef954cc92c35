"""Whole rows that another statement brings along as JSON, and the objects of the models that they become."""

from collections.abc import Callable, Collection
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import BinaryField, DateTimeField, Model

M = TypeVar("M", bound=Model)

_READERS: dict[type, Callable[[Any], Any]] = {
    DateTimeField: datetime.fromisoformat,
    BinaryField: lambda text: bytes.fromhex(text.removeprefix("\\x")),
}


class JsonRow(Generic[M]):
    """A row of ``model``, which the statement calls ``alias``. Columns ``without`` are read when they are touched."""

    def __init__(self, model: type[M], alias: str, without: Collection[str] = ()) -> None:
        self._model = model
        self._alias = alias
        self._without = without

    @cached_property
    def sql(self) -> str:
        """The expression for the row: an array of its values."""
        columns = [connection.ops.quote_name(str(field.column)) for field in self._fields]
        return f"json_build_array({', '.join(f'{self._alias}.{column}' for column in columns)})"

    def instance(self, values: list[Any]) -> M:
        """The object of what :attr:`sql` gave. Changes ``values``."""
        for position, read in self._readers:
            if values[position] is not None:
                values[position] = read(values[position])
        return self._model.from_db(DEFAULT_DB_ALIAS, self._names, values)

    @cached_property
    def _fields(self) -> list[Any]:
        return [field for field in self._model._meta.concrete_fields if field.attname not in self._without]

    @cached_property
    def _names(self) -> list[str]:
        return [field.attname for field in self._fields]

    @cached_property
    def _readers(self) -> list[tuple[int, Callable[[Any], Any]]]:
        return [(n, _READERS[type(field)]) for n, field in enumerate(self._fields) if type(field) in _READERS]
