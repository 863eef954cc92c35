"""Statements that every flow asks, with less than a cursor of Django costs."""

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from django.db import connection


def planned(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> "psycopg.Cursor[tuple[Any, ...]]":
    """Return the cursor that has executed a statement, planned once for the connection (``paraph.database.base``): its
    plan must be good for all values."""
    own: Any = connection  # of our engine, which has this
    cursor: psycopg.Cursor[tuple[Any, ...]] = own.planned(statement, values)
    return cursor


def one_row(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the row that a statement answers, None where it answers none."""
    return planned(statement, values).fetchone()
