"""What every call asks, with less than a cursor of Django costs."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection


def one_row(statement: str, values: Sequence[Any] | Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the row that a statement answers, None where it answers none (``paraph.database.base``)."""
    own: Any = connection  # of our engine, which has this
    row: tuple[Any, ...] | None = own.one_row(statement, values)
    return row
