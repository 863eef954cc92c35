"""The database engine for Django's settings, and statements that PostgreSQL plans once for a connection."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from django.db import connection
from django.db.backends.postgresql import base

from paraph.database import connections

_TIMES = 5  # any number: None would keep psycopg from preparing anything; Django's own cursors never prepare

Values = Sequence[Any] | Mapping[str, Any]


class DatabaseWrapper(base.DatabaseWrapper):
    health_check_done: bool  # Django's attribute, which its type stubs lack

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lease = connections.Lease()

    def planned(self, statement: str, values: Values) -> "psycopg.Cursor[tuple[Any, ...]]":
        """Return the cursor that has executed a statement, which PostgreSQL parses and plans once for the connection.
        For frequent statements: a cursor of Django takes three times the processor time, and Django compiles a query
        anew each time."""
        self.close_if_health_check_failed()
        self.ensure_connection()
        if self.queries_logged:
            self.queries_log.append({"sql": statement, "time": ""})
        with self.wrap_database_errors:
            return psycopg.Cursor(self.connection).execute(statement, values, prepare=True)

    def get_connection_params(self) -> dict[str, Any]:
        ours = {**connections.PARAMETERS, "application_name": connections.application_name()}
        return {**ours, **super().get_connection_params(), "prepare_threshold": _TIMES}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection that has a session. If no session is free, give back the idle connections of this process
        meanwhile, and fail within the timeout for connecting."""
        self._lease.take()
        until = time.monotonic() + (int(conn_params["connect_timeout"]) or connections.SECONDS)
        made = super().get_new_connection(conn_params)
        left = max(1.0, until - time.monotonic())
        connections.execute_first(made, connections.first_statement(made), left, connections.give_back)
        return made

    def close_if_unusable_or_obsolete(self) -> None:
        """Let the connection rest; Django calls this after each request."""
        super().close_if_unusable_or_obsolete()
        if self.connection is not None and self.autocommit and not self.in_atomic_block:
            self._lease.rest(self.connection)

    def close_if_health_check_failed(self) -> None:
        """Take the connection again; Django calls this before the first statement of each request."""
        if not self.health_check_done:
            self._lease.take()
        super().close_if_health_check_failed()

    def is_usable(self) -> bool:
        """Return whether a kept connection may serve the next request. While there is nothing to read, asking the
        server (Django's own ``SELECT 1``) would tell no more and costs a third of a read."""
        kept: Any = self.connection
        if kept is None or kept.closed:
            return False
        return not connections.is_readable(kept.fileno()) or super().is_usable()


def planned(statement: str, values: Values) -> "psycopg.Cursor[tuple[Any, ...]]":
    """Call :meth:`DatabaseWrapper.planned` of this thread's connection. The plan of the statement must be good for all
    values."""
    own: Any = connection  # our engine's, which has this method
    cursor: psycopg.Cursor[tuple[Any, ...]] = own.planned(statement, values)
    return cursor


def one_row(statement: str, values: Values) -> tuple[Any, ...] | None:
    """Return the first row of a statement's result, None if there is none."""
    return planned(statement, values).fetchone()


def all_rows(statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of the result of an infrequent statement, which is planned anew each time."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
