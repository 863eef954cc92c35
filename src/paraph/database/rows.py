"""New rows of several tables in two round trips, one for their ids, one for all of them; and changes of a row."""

import json
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from datetime import datetime
from functools import cache
from itertools import groupby
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DataError, connection, connections, transaction
from django.db.models import Field, Model
from pydantic_core import from_json

from paraph.database.prepared_statements import one_row, prepared_cursor

_MOST_VALUES = 65_535
"""Of a statement, as the protocol of PostgreSQL counts them."""


def reserve(wanted: dict[type[Model], int]) -> dict[type[Model], list[int]]:
    """Id for so many new rows of each table, in rising order. Nobody else gets them, used or not."""
    [ids] = one_row(_reserving(tuple(wanted)), [b"%d" % count for count in wanted.values()]) or [None]
    return dict(zip(wanted, from_json(ids or b"[]"), strict=True))


def insert(rows: Iterable[Model]) -> None:
    """Insert the rows in one statement, those of one table in their order; more than a statement takes in several, all
    or none. A row without an id gets one that is not told."""
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
        with prepared_cursor() as cursor:
            cursor.execute(f"WITH {parts} {last}" if before else last, values)


def insert_whole(rows: Iterable[Model]) -> None:
    """Insert the rows as :func:`insert` does. A transaction that they are part of survives their refusal; outside of
    one, the statement is a transaction of its own, with no others to begin and to commit it."""
    with transaction.atomic() if connection.in_atomic_block else nullcontext():
        insert(rows)


def insert_new(row: Model) -> None:
    """Insert a row that has no id yet, and give it one."""
    statement, fields = _inserting_new(type(row))
    [found] = one_row(statement, [_text(getattr(row, field.attname)) for field in fields]) or [None]
    row.pk = int(found or 0)


def insert_once(row: Model) -> bool:
    """Insert the row unless another has one of its unique values; whether it did."""
    head, one, fields = _inserting(type(row), row.pk is not None)
    with prepared_cursor() as cursor:
        cursor.execute(f"{head}{one} ON CONFLICT DO NOTHING", _values(row, fields))
        return bool(cursor.rowcount)


def update(row: Model, *names: str) -> None:
    """Write these fields of a row, as ``row.save(update_fields=names)`` would. Nothing happens where it is gone."""
    statement, fields = _updating(type(row), names)
    with prepared_cursor() as cursor:
        cursor.execute(statement, [*_values(row, fields), row.pk])


def _values(row: Model, fields: list["Field[Any, Any]"]) -> list[Any]:
    own = connections[DEFAULT_DB_ALIAS]  # what ``connection`` looks up anew at each touch
    return [field.get_db_prep_save(getattr(row, field.attname), own) for field in fields]


@cache
def _reserving(models: tuple[type[Model], ...]) -> str:
    parts = [
        f"array(SELECT nextval(pg_get_serial_sequence('{_quoted(model._meta.db_table)}', 'id')) "  # noqa: S608  our names
        f"FROM generate_series(1, ${number}::int))"
        for number, model in enumerate(models, 1)
    ]
    return f"SELECT json_build_array({', '.join(parts)})"


@cache
def _inserting(model: type[Model], keyed: bool) -> tuple[str, str, list["Field[Any, Any]"]]:
    fields = [field for field in model._meta.concrete_fields if keyed or not field.primary_key]
    columns = ", ".join(_quoted(str(field.column)) for field in fields)
    head = f"INSERT INTO {_quoted(model._meta.db_table)} ({columns}) VALUES "  # noqa: S608  our own names
    return head, f"({', '.join(['%s'] * len(fields))})", fields


@cache
def _inserting_new(model: type[Model]) -> tuple[str, list["Field[Any, Any]"]]:
    head, _, fields = _inserting(model, keyed=False)
    places = ", ".join(f"${number}" for number in range(1, len(fields) + 1))
    return f"{head}({places}) RETURNING {_quoted(str(model._meta.pk.column))}", fields


def _text(value: Any) -> bytes | None:
    """Return the value of a field as PostgreSQL reads it."""
    if isinstance(value, datetime):
        return value.isoformat().encode()
    if isinstance(value, bytes):
        return b"\\x" + value.hex().encode()
    if isinstance(value, dict | list):
        return json.dumps(value).encode()
    text = None if value is None else str(value).encode()
    if text and b"\0" in text:
        raise DataError("a text of PostgreSQL holds no zero byte")  # what follows it would be cut off
    return text


@cache
def _updating(model: type[Model], names: tuple[str, ...]) -> tuple[str, list["Field[Any, Any]"]]:
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    changes = ", ".join(f"{_quoted(str(field.column))} = %s" for field in fields)
    key = _quoted(str(model._meta.pk.column))
    return f"UPDATE {_quoted(model._meta.db_table)} SET {changes} WHERE {key} = %s", fields  # noqa: S608  our own names


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
