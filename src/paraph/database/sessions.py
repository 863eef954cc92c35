"""Whether connections to the database keep their sessions: prepared statements, LISTEN and advisory locks need them."""

import os
import socket
from contextlib import closing
from typing import Any

from django.db import connection as django_connection

from paraph.database.first_statement import connect

UNKEPT = (
    "Connections to the database share sessions, as behind PgBouncer with pool_mode = transaction: set pool_mode = "
    "session there, or have DATABASE_URL name PostgreSQL itself."
)
_ROUNDS = 5


_role = "command"


def work_as(role: str) -> None:
    """Have PostgreSQL know this process, and those forked from it, as ``web`` or ``worker`` from now on."""
    global _role  # noqa: PLW0603  the process has one
    _role = role


def application_name() -> str:
    """Return what the sessions of this process are called, in ``pg_stat_activity`` and in the pooler's own lists."""
    return f"paraph {_role} {os.getpid()}@{socket.gethostname()}"[:63]


def keeps_sessions(conninfo: str = "", **parameters: Any) -> bool:
    """Two connections at once have one server process each, and keep it from statement to statement. Raises
    ``psycopg.OperationalError`` where one is not to be had in time."""
    with closing(connect(conninfo, **parameters)) as one, closing(connect(conninfo, **parameters)) as other:
        seen = {(_process(one), _process(other)) for _ in range(_ROUNDS)}
    return len(seen) == 1 and all(first != second for first, second in seen)


def connection_parameters() -> dict[str, Any]:
    """Return what psycopg connects to Django's database with."""
    parameters: dict[str, Any] = django_connection.get_connection_params()
    return {name: value for name, value in parameters.items() if name not in ("cursor_factory", "context")}


def _process(connection: Any) -> int:
    return int(connection.execute("SELECT pg_backend_pid()", prepare=False).fetchone()[0])
