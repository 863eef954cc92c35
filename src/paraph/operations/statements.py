"""What operators ask of the database by statements of their own."""

from typing import Any

from django.db import connection


def rows(statement: str) -> list[tuple[Any, ...]]:
    """Return the rows that the statement answers."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
