"""New rows of several tables in two round trips, one for their ids, one for all of them."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from functools import cache
from itertools import groupby
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.models import Field, Model

from paraph.database.planned import one_row, planned

_MOST_VALUES = 65_535
"""Of a statement, as the protocol of PostgreSQL counts them."""


def reserve(wanted: dict[type[Model], int]) -> dict[type[Model], list[int]]:
    """Return as many ids as new rows are wanted in each table, in rising order. Nobody else gets them, used or not."""
    ids = "array(SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s::int))"
    values = [value for model, count in wanted.items() for value in (model._meta.db_table, count)]
    found = one_row(f"SELECT {', '.join([ids] * len(wanted))}", values) or ()
    return dict(zip(wanted, found, strict=True))


def insert(rows: Iterable[Model]) -> None:
    """Insert the rows in one statement, those of one table in their order; more than a statement takes in several, all
    or none. A row without an id gets one, which is not returned."""
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
    """Insert the rows as :func:`insert` does. A transaction that they are part of survives their refusal; outside of
    one, the statement is a transaction of its own, with no others to begin and to commit it."""
    with transaction.atomic() if connection.in_atomic_block else nullcontext():
        insert(rows)


def insert_once(row: Model) -> bool:
    """Insert the row unless another has one of its unique values. Return whether it was inserted."""
    head, one, fields = _inserting(type(row), row.pk is not None)
    return bool(planned(f"{head}{one} ON CONFLICT DO NOTHING", _values(row, fields)).rowcount)


def _values(row: Model, fields: list["Field[Any, Any]"]) -> list[Any]:
    own = connections[DEFAULT_DB_ALIAS]  # what ``connection`` looks up anew at each touch
    return [field.get_db_prep_save(getattr(row, field.attname), own) for field in fields]


@cache
def _inserting(model: type[Model], keyed: bool) -> tuple[str, str, list["Field[Any, Any]"]]:
    fields = [field for field in model._meta.concrete_fields if keyed or not field.primary_key]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    head = f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES '  # noqa: S608  our own names
    return head, f"({', '.join(['%s'] * len(fields))})", fields
