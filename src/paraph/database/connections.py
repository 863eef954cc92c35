"""Connections to PostgreSQL: made in time, found dead in time, with a session of their own, given back when idle.

If a machine or the network in between is gone, the other end says nothing: making a connection would take minutes,
finding it dead would take hours, and the server would hold the locks of a lost machine as long. Behind a pooler, a
connection is made at once, and its first statement waits until a session is free: PgBouncer's own limit is two
minutes, and ``connect_timeout`` no longer applies. A thread keeps its connection from one request to the next, and with
it one of the pooler's few sessions; others would wait for one for ever if an idle one were never given back.
"""

import os
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any
from weakref import WeakSet

import psycopg
from psycopg import OperationalError, pq
from psycopg.errors import error_from_result

PARAMETERS = {
    "connect_timeout": 5,  # s
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # ms
}
"""Parameters of every connection, with libpq's names, so that DATABASE_URL can override them."""

_OF_THE_SERVER = {name: f"tcp_{name.removeprefix('tcp_')}" for name in PARAMETERS if name != "connect_timeout"}
"""The server's settings that correspond to these parameters."""

SECONDS = 5.0
_FOLLOW = """
DO $$ BEGIN
    IF to_regproc('organizations_follow_timeline') IS NOT NULL THEN
        PERFORM organizations_follow_timeline();
    END IF;
END $$
"""
_BRIEFLY = 0.5  # s; a free session answers sooner
_FAILED = (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.BAD_RESPONSE)


def first_statement(made: "psycopg.Connection[Any] | psycopg.AsyncConnection[Any]") -> str:
    """Return the first statement of a connection of the service. If there is a network in between, it has the server
    give up its end of the connection as early as we give up ours (``options`` of the connection would cost no
    statement, but poolers refuse them). It also makes sure that no id is given out again after a standby has taken over
    or the database was set back to an earlier moment."""
    given = made.info.get_parameters() if made.info.hostaddr else {}
    timeouts = (f"SET {name} = {int(given[ours])}; " for ours, name in _OF_THE_SERVER.items() if ours in given)
    return "".join(timeouts) + _FOLLOW


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
    """Execute the statement on a new connection; call ``shortage`` if that takes long. Close the connection and raise
    ``OperationalError`` if the statement is not answered in time."""
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
            error = error_from_result(result)
            is_servers = error.sqlstate is not None and not made.closed  # not libpq's own, after losing the server
            made.close()
            raise error if is_servers else OperationalError(str(error))


def _answered(server: Any, until: float) -> bool:
    """Return whether the first result has arrived by the time ``until``, on the monotonic clock."""
    while server.flush() or server.is_busy():
        left = until - time.monotonic()
        if left <= 0 or not is_readable(server.socket, left):
            return False
        server.consume_input()
    return True


def is_readable(descriptor: int, seconds: float = 0.0) -> bool:
    """Return whether there is something to read within ``seconds``. If the server has shut down or ended the
    connection, there is."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


UNKEPT = (
    "Connections to the database share sessions, as behind PgBouncer with pool_mode = transaction: set pool_mode = "
    "session there, or have DATABASE_URL name PostgreSQL itself."
)
_ROUNDS = 5

_role = "command"


def work_as(role: str) -> None:
    """Name this process, and those forked from it, ``web`` or ``worker`` in PostgreSQL from now on."""
    global _role  # noqa: PLW0603  the process has one
    _role = role


def application_name() -> str:
    """Return the name of this process's sessions in ``pg_stat_activity`` and in the pooler's own lists."""
    return f"paraph {_role} {os.getpid()}@{socket.gethostname()}"[:63]


def keeps_sessions(conninfo: str = "", **parameters: Any) -> bool:
    """Return whether two simultaneous connections have one server process each, and keep it from statement to
    statement. Raise ``psycopg.OperationalError`` if a connection is not made in time."""
    with closing(connect(conninfo, **parameters)) as one, closing(connect(conninfo, **parameters)) as other:
        seen = {(_process(one), _process(other)) for _ in range(_ROUNDS)}
    return len(seen) == 1 and all(first != second for first, second in seen)


def _process(connection: Any) -> int:
    return int(connection.execute("SELECT pg_backend_pid()", prepare=False).fetchone()[0])


IDLE_SECONDS = 10.0

_guard = threading.Lock()
_leases: "WeakSet[Lease]" = WeakSet()
is_given_back = threading.Event()
"""Set if idle connections are closed after a while, so that they may be kept beyond the end of their threads."""


class Lease:
    """Whether the thread that owns a connection is using it; only an idle connection may be closed by others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Any = None
        self._rests_since = 0.0

    def take(self) -> None:
        """Begin the work of the thread, which has to look first whether the connection was given back."""
        with self._lock:
            self._connection = None

    def rest(self, connection: Any) -> None:
        """End the work of the thread, until it takes the connection again."""
        with self._lock:
            self._connection, self._rests_since = connection, time.monotonic()
        with _guard:
            _leases.add(self)

    def give_back(self, seconds: float) -> bool:
        """Close the connection where it has rested for so long. Return whether it did."""
        with self._lock:
            if self._connection is None or time.monotonic() - self._rests_since < seconds:
                return False
            connection, self._connection = self._connection, None
            connection.close()
            return True


def give_back(seconds: float = 0.0) -> int:
    """Close the connections of this process that have rested for so long, and return their number."""
    with _guard:
        leases = list(_leases)
    return sum([lease.give_back(seconds) for lease in leases])


def give_back_from_now_on() -> None:
    """Close connections that have rested for 10 s, in this process until it ends."""
    is_given_back.set()
    threading.Thread(target=_repeat, name="idle sessions", daemon=True).start()


def _repeat() -> None:
    while True:
        time.sleep(IDLE_SECONDS / 4)
        give_back(IDLE_SECONDS)
