"""The sequential scans of statements."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from django.db import DEFAULT_DB_ALIAS, connection, connections

from paraph.database import base
from tests.plans.large_tables import SMALL

_TABLES = """
    SELECT array_agg(oid ORDER BY oid), array_agg(relname::text ORDER BY oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL(%s)
"""
_COUNTS = """
    SELECT array_agg(pg_stat_get_xact_numscans(oid) ORDER BY number)
    FROM unnest(%s::oid[]) WITH ORDINALITY AS each (oid, number)
"""
_OF_TRANSACTIONS = ("SAVEPOINT", "RELEASE", "ROLLBACK")


class Scans:
    """``found``: statements with the tables that they, their functions or their triggers read row by row; ``asked``:
    all statements."""

    def __init__(self) -> None:
        self.found: dict[str, set[str]] = {}
        self.asked: set[str] = set()
        self._counts: list[int] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note the statements of the block and their scans, those in triggers and functions included."""
        planned, mine = base.DatabaseWrapper.planned, connections[DEFAULT_DB_ALIAS]

        def planned_asked(own: Any, statement: str, values: Any) -> Any:
            answer = planned(own, statement, values)
            if own is mine:  # not the connection of a thread that checks readiness
                self._note(statement)
            return answer

        [self._oids, self._names] = _row(_TABLES, SMALL)
        [self._counts] = _row(_COUNTS, self._oids)
        kept = patch.object(base.DatabaseWrapper, "close_if_unusable_or_obsolete")  # lives as long as the transaction
        with (
            kept,
            patch.object(base.DatabaseWrapper, "planned", planned_asked),
            connection.execute_wrapper(self._asked),
        ):
            yield

    def _asked(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        self._note(sql)
        return answer

    def _note(self, statement: str) -> None:
        if statement.startswith(_OF_TRANSACTIONS):
            return
        self.asked.add(statement)
        [counts] = _row(_COUNTS, self._oids)
        read = {name for name, now, before in zip(self._names, counts, self._counts, strict=True) if now > before}
        self._counts = counts
        if read:
            self.found.setdefault(" ".join(statement.split()), set()).update(read)


def _row(statement: str, value: list[Any]) -> Any:
    """The row that a statement returns which is not itself noted."""
    own: Any = connection.connection
    return own.execute(statement, [value]).fetchone()
