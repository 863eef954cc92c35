"""Whether connections to the database keep their sessions: prepared statements, LISTEN and advisory locks need them."""

from typing import Any

import psycopg
from django.db import connection as django_connection

UNKEPT = (
    "Connections to the database share sessions, as behind PgBouncer with pool_mode = transaction: set pool_mode = "
    "session there, or have DATABASE_URL name PostgreSQL itself."
)
_ROUNDS = 5


def keeps_sessions(conninfo: str = "", **parameters: Any) -> bool:
    """Two connections at once have one server process each, and keep it from statement to statement."""
    with (
        psycopg.connect(conninfo, **parameters, autocommit=True) as one,
        psycopg.connect(conninfo, **parameters, autocommit=True) as other,
    ):
        seen = {(_process(one), _process(other)) for _ in range(_ROUNDS)}
    return len(seen) == 1 and all(first != second for first, second in seen)


def connection_parameters() -> dict[str, Any]:
    """What psycopg connects to Django's database with."""
    parameters: dict[str, Any] = django_connection.get_connection_params()
    return {name: value for name, value in parameters.items() if name not in ("cursor_factory", "context")}


def _process(connection: Any) -> int:
    return int(connection.execute("SELECT pg_backend_pid()", prepare=False).fetchone()[0])
