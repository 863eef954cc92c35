"""Rows of several tables in one statement: read by the keys between them, or inserted, once their ids are reserved."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import cache, cached_property
from itertools import groupby
from typing import Any, Generic, TypeVar, cast

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.models import Field, ForeignKey, Model

from paraph.database.base import one_row, planned
from paraph.kernel import tokens

_M = TypeVar("_M", bound=Model)
_Tables = dict[str, tuple[type[Model], list["Field[Any, Any]"]]]
_MOST_VALUES = 65_535
"""The most values that a statement may have, because PostgreSQL's protocol counts them in 16 bits."""


def reserve(wanted: dict[type[Model], int]) -> dict[type[Model], list[int]]:
    """Return as many ids for each table as new rows are wanted, in rising order. They are never given out again."""
    ids = "array(SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s::int))"
    values = [value for model, count in wanted.items() for value in (model._meta.db_table, count)]
    found = one_row(f"SELECT {', '.join([ids] * len(wanted))}", values) or ()
    return dict(zip(wanted, found, strict=True))


def insert(rows: Iterable[Model]) -> None:
    """Insert the rows in one statement, those of one table in their order. Too many rows for one statement are inserted
    by several, all or none. A row without an id gets one, which is not returned."""
    portions = list(_portions(rows))
    with transaction.atomic() if len(portions) > 1 else nullcontext():
        for portion in portions:
            _insert(portion)


def _portions(rows: Iterable[Model]) -> Iterator[list[Model]]:
    portion, count = list[Model](), 0
    for row in rows:
        columns = len(row._meta.concrete_fields)
        if count + columns > _MOST_VALUES:
            yield portion
            portion, count = [], 0
        portion.append(row)
        count += columns
    if portion:
        yield portion


def _insert(rows: Iterable[Model]) -> None:
    statements: list[str] = []
    values: list[Any] = []
    for (model, keyed), group in groupby(rows, key=lambda row: (type(row), row.pk is not None)):
        head, one, fields = _inserting(model, keyed)
        several = list(group)
        statements.append(head + ", ".join([one] * len(several)))
        values += [value for row in several for value in _values(row, fields)]
    if statements:
        *before, last = statements
        parts = ", ".join(f"part{number} AS ({statement})" for number, statement in enumerate(before))
        planned(f"WITH {parts} {last}" if before else last, values)


def insert_whole(rows: Iterable[Model]) -> None:
    """Insert the rows as :func:`insert` does. If they are refused, a surrounding transaction survives. Without one, the
    statement is a transaction by itself, which saves the statements to begin and to commit one."""
    with transaction.atomic() if connection.in_atomic_block else nullcontext():
        insert(rows)


def insert_once(row: Model) -> bool:
    """Insert the row unless another has one of its unique values. Return whether it was inserted."""
    head, one, fields = _inserting(type(row), row.pk is not None)
    return bool(planned(f"{head}{one} ON CONFLICT DO NOTHING", _values(row, fields)).rowcount)


def _values(row: Model, fields: list["Field[Any, Any]"]) -> list[Any]:
    own = connections[DEFAULT_DB_ALIAS]  # ``connection`` would look it up anew at each access
    return [field.get_db_prep_save(getattr(row, field.attname), own) for field in fields]


@cache
def _inserting(model: type[Model], keyed: bool) -> tuple[str, str, list["Field[Any, Any]"]]:
    fields = [field for field in model._meta.concrete_fields if keyed or not field.primary_key]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    head = f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES '  # noqa: S608  our own names
    return head, f"({', '.join(['%s'] * len(fields))})", fields


def kept_once(model: type[Model], content: Mapping[str, Any]) -> int:
    """Return the id of the row with this JSON, which many other rows share; make it if there is none. Its table has the
    columns ``sha256`` and ``content``. The row stays until the transaction of the caller ends, and then as long as
    another row refers to it."""
    digest = tokens.sha256(json.dumps(content, sort_keys=True).encode())
    held = f"SELECT id FROM {model._meta.db_table} WHERE sha256 = %s FOR KEY SHARE"  # noqa: S608  our own name
    while (found := one_row(held, [digest])) is None:
        insert_once(model(sha256=digest, content=content))
    return int(found[0])


class Joined(Generic[_M]):
    """Read one row of a model, and rows that it refers to, by a statement that is planned once for a connection.
    ``along``: the paths to read with it, as for ``select_related``, each after the path that leads to it; ``deferred``:
    the columns that are read only on access, as for ``defer``; ``end``: the statement after its joins, in which each
    table is named by its path, and the model's own is ``self``."""

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
        """Return the statement, and the model and the columns of each table in it."""
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
    if values[0] is None:  # the key is null if the row is missing
        return None
    for index, field in enumerate(fields):
        if hasattr(field, "from_db_value"):
            values[index] = field.from_db_value(values[index], None, connection)
    return model.from_db(connection.alias, [field.attname for field in fields], values)
