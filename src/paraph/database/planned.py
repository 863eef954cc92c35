"""Statements that every flow asks, with less than a cursor and a query of Django cost.

Django compiles a query anew each time, and PostgreSQL plans it anew: for rows of several tables that takes up to two
milliseconds.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

import psycopg
from django.db import connection
from django.db.models import Field, ForeignKey, Model

_M = TypeVar("_M", bound=Model)
_Tables = dict[str, tuple[type[Model], list["Field[Any, Any]"]]]


def planned(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> "psycopg.Cursor[tuple[Any, ...]]":
    """Return the cursor that has executed a statement, planned once for the connection (``paraph.database.base``): its
    plan must be good for all values."""
    own: Any = connection  # of our engine, which has this
    cursor: psycopg.Cursor[tuple[Any, ...]] = own.planned(statement, values)
    return cursor


def one_row(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the row that a statement answers, None where it answers none."""
    return planned(statement, values).fetchone()


class Joined(Generic[_M]):
    """One row of a model, and what it refers to, by a statement that is planned once for a connection.

    ``along``: what is read with it, as for ``select_related``, each path after the one that leads to it; ``deferred``:
    the columns that are read when they are asked for, as for ``defer``. ``end`` follows the joins; in it, each table
    has its path as a name, the model's own is ``self``.
    """

    def __init__(self, model: type[_M], *along: str, end: str, deferred: Collection[str] = ()) -> None:
        self._model, self._along, self._end, self._deferred = model, along, end, deferred

    def get(self, *values: Any) -> _M:
        """Return the row. Raise the model's ``DoesNotExist``."""
        row = self.first(*values)
        if row is None:
            raise cast(Any, self._model).DoesNotExist
        return row

    def first(self, *values: Any) -> _M | None:
        """Return the first row, None where there is none."""
        statement, tables = self._read
        row = planned(statement, values).fetchone()
        if row is None:
            return None
        columns, found = iter(row), dict[str, Model | None]()
        for path, (model, fields) in tables.items():
            found[path] = _instance(model, fields, columns)
            parent, _, name = path.rpartition("__")
            if name and (holder := found[parent]) is not None:
                setattr(holder, name, found[path])
        return cast(_M, found[""])

    @cached_property
    def _read(self) -> tuple[str, "_Tables"]:
        """The statement, and the model and the columns of each table in it."""
        tables: _Tables = {"": (self._model, self._fields(self._model, ""))}
        joins = [f'FROM "{self._model._meta.db_table}" AS "self"']
        for path in self._along:
            parent, _, name = path.rpartition("__")
            key = cast("ForeignKey[Any, Any]", tables[parent][0]._meta.get_field(name))
            model = key.related_model
            tables[path] = model, self._fields(model, f"{path}__")
            kind, of = "LEFT JOIN" if key.null else "JOIN", parent or "self"
            joins.append(f'{kind} "{model._meta.db_table}" AS "{path}" ON "{path}"."id" = "{of}"."{key.column}"')
        columns = [f'"{path or "self"}"."{field.column}"' for path, (_, fields) in tables.items() for field in fields]
        return f"SELECT {', '.join(columns)} {' '.join(joins)} {self._end}", tables

    def _fields(self, model: type[Model], prefix: str) -> list["Field[Any, Any]"]:
        return [field for field in model._meta.concrete_fields if prefix + field.name not in self._deferred]


def _instance(model: type[Model], fields: list["Field[Any, Any]"], columns: Iterator[Any]) -> Model | None:
    values = [next(columns) for _ in fields]
    if values[0] is None:  # the key, of a row that is not there
        return None
    for index, field in enumerate(fields):
        if hasattr(field, "from_db_value"):
            values[index] = field.from_db_value(values[index], None, connection)
    return model.from_db(connection.alias, [field.attname for field in fields], values)
