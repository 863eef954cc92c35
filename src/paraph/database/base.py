"""The database engine of the settings."""

import select
import time
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from django.db.backends.postgresql import base
from psycopg import pq

from paraph.database import first_statement, idle, sessions, timeouts
from paraph.database.refusals import refusal
from paraph.kernel import tokens

_ROW, _DONE, _STATE = pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK, pq.DiagnosticField.SQLSTATE
_TIMES = 3  # before a statement is prepared
_NOT_PREPARED = b"26000"  # invalid_sql_statement_name


_django: Any = base  # typed without its cursors


class _KeptCursor(_django.ServerBindingCursor):  # type: ignore[misc]  # the same
    """Making a cursor takes as long as asking with it, so one that is closed is kept for the next who wants one."""

    free = False

    def close(self) -> None:
        self.free = True


class DatabaseWrapper(base.DatabaseWrapper):
    _kept: _KeptCursor | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lease = idle.Lease()

    def prepared_cursor(self) -> Any:
        """Return a cursor whose statements PostgreSQL parses and plans once for the connection, after a few times: for
        those that are asked again and again. Values travel apart from them, so each is one statement."""
        self.validate_thread_sharing()
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            kept = self._kept
            if kept is None or not kept.free or kept.connection is not self.connection:
                kept = self._kept = _KeptCursor(self.connection)
            kept.free = False
        return self.make_debug_cursor(kept) if self.queries_logged else self.make_cursor(kept)

    def one_row(self, statement: str, values: Sequence[bytes | None]) -> list[bytes | None] | None:
        """Return the one row that a statement answers, None where it answers none; it and the values for ``$1``, ``$2``
        and so on are in PostgreSQL's own text form. For what every call asks: one call of libpq, which lets go of
        Python once, where a cursor takes three times the processor time."""
        self.close_if_health_check_failed()
        if self.connection is None:
            self.ensure_connection()
        if self.queries_logged:
            self.queries_log.append({"sql": statement, "time": ""})
        with self.wrap_database_errors:
            row = _asked(self.connection, statement, values)
            if row.status != _ROW:
                raise refusal(row, self.connection)
        return list(map(partial(row.get_value, 0), range(row.nfields))) if row.ntuples else None

    def get_connection_params(self) -> dict[str, Any]:
        ours = {**timeouts.PARAMETERS, "application_name": sessions.application_name()}
        return {**ours, **super().get_connection_params(), "prepare_threshold": _TIMES}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection that has a session: whoever holds them back, it fails in the time that it may take to be
        made, and what rests in this process is given back meanwhile."""
        self._lease.take()
        until = time.monotonic() + (int(conn_params["connect_timeout"]) or first_statement.SECONDS)
        made = super().get_new_connection(conn_params)
        left = max(1.0, until - time.monotonic())
        first_statement.execute_first(made, first_statement.statement(made), left, idle.give_back)
        return made

    def close_if_unusable_or_obsolete(self) -> None:
        """After each request; Django's own way takes longer to see that nothing is wrong."""
        if self.errors_occurred or not self.autocommit or self.close_at is not None:
            super().close_if_unusable_or_obsolete()
        self.health_check_done = False
        if self.connection is not None and self.autocommit and not self.in_atomic_block:
            self._lease.rest(self.connection)

    def close_if_health_check_failed(self) -> None:
        """Before the first statement of each request."""
        if not self.health_check_done:
            self._lease.take()
        super().close_if_health_check_failed()

    def is_usable(self) -> bool:
        """Return whether a kept connection may serve the next request.

        A server that has gone, or has ended the connection, has said so: then there is something to read. While
        there is nothing, asking it (Django's own ``SELECT 1``) would tell no more and costs a third of a read.
        """
        kept: Any = self.connection
        if kept is None or kept.closed:
            return False
        waiting = select.poll()
        waiting.register(kept.fileno(), select.POLLIN)
        return not waiting.poll(0) or super().is_usable()


def _asked(connection: Any, statement: str, values: Sequence[bytes | None]) -> Any:
    server = connection.pgconn
    if not connection.autocommit:  # a statement that is not prepared would end the transaction
        if server.transaction_status == pq.TransactionStatus.IDLE:
            server.exec_(b"BEGIN")
        return server.exec_params(statement.encode(), values)
    name = _name(statement)
    answer = server.exec_prepared(name, values)
    if answer.status == _ROW or answer.error_field(_STATE) != _NOT_PREPARED:
        return answer
    prepared = server.prepare(name, statement.encode())  # a new connection, or one after a rollback, which forgets all
    return server.exec_prepared(name, values) if prepared.status == _DONE else prepared


@cache
def _name(statement: str) -> bytes:
    return tokens.sha256(statement.encode()).hex().encode()[:32]
