"""Statements that are asked again and again, each planned once for a connection (``paraph.database.base``)."""

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.backends.utils import CursorWrapper


def prepared_cursor() -> CursorWrapper:
    """PostgreSQL parses and plans its statements once for this connection. One statement at a time."""
    own: Any = connection  # of our engine, which has this
    cursor: CursorWrapper = own.prepared_cursor()
    return cursor


def one_row(statement: str, values: Sequence[bytes | None]) -> list[bytes | None] | None:
    """Return the one row that a statement answers, or None; it and the values of ``$1``, ``$2`` and so on are as
    PostgreSQL writes them. For statements of which even a cursor's costs count."""
    own: Any = connection  # of our engine, which has this
    row: list[bytes | None] | None = own.one_row(statement, values)
    return row
