"""The first statement of a connection, which has to be answered in time.

Behind a pooler, a connection is made at once, and its first statement waits until a session is free: PgBouncer's own
limit is two minutes, its ``connect_timeout`` is over by then.
"""

import select
import time
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import OperationalError, pq

from paraph.database import timeouts
from paraph.database.refusals import refusal

SECONDS = 5.0
_FOLLOW = """
DO $$ BEGIN
    IF to_regproc('organizations_follow_timeline') IS NOT NULL THEN
        PERFORM organizations_follow_timeline();
    END IF;
END $$
"""
_BRIEFLY = 0.5  # long for a session that is free
_FAILED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE)


def statement(made: "psycopg.Connection[Any] | psycopg.AsyncConnection[Any]") -> str:
    """Return the first one of a connection of the service: how long the server waits for us, and where the database has
    gone on from a standby or from an earlier moment, that no number is given out again."""
    return timeouts.statement(made.info) + _FOLLOW


def connect(
    conninfo: str = "", statement: str = "SELECT 1", seconds: float = SECONDS, **parameters: Any
) -> "psycopg.Connection[Any]":
    """Return a connection, in autocommit, whose first statement was answered in time. Raise ``OperationalError``."""
    made = psycopg.connect(conninfo, **{"connect_timeout": int(SECONDS), **parameters}, autocommit=True)
    execute_first(made, statement, seconds)
    return made


def execute_first(
    made: "psycopg.Connection[Any]", statement: str, seconds: float, shortage: Callable[[], object] = lambda: None
) -> None:
    """Execute the statement on a new connection; ``shortage`` is called where that takes long. Raises
    ``OperationalError``, after closing the connection, where it is not answered in time."""
    began = time.monotonic()
    server = made.pgconn
    server.send_query(statement.encode())
    if not _answered(server, began + min(_BRIEFLY, seconds)):
        shortage()
        if not _answered(server, began + seconds):
            made.close()
            raise OperationalError(f"no session was free within {seconds:.0f} s, as behind a pooler that has too few")
    while result := server.get_result():
        if result.status in _FAILED:
            error = refusal(result, made)
            made.close()
            raise error


def _answered(server: Any, until: float) -> bool:
    """Return whether the first result is here, so that it need not be waited for."""
    poll = select.poll()
    poll.register(server.socket, select.POLLIN)
    while server.flush() or server.is_busy():
        left = until - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            return False
        server.consume_input()
    return True
