"""Locks that a migration waits for only so long that nobody is harmed by it.

Whatever comes while it waits for a table waits behind it. And PostgreSQL looks for circles of those who wait for each
other once somebody has waited for ``deadlock_timeout`` (1 s), and ends whom it finds: that must never be a request. A
migration gives up within a fifth of that, so that it does even where it waits for several tables in turn.
"""

from typing import Any

from django.db import OperationalError
from psycopg.errors import DeadlockDetected, LockNotAvailable

_SHARE = "SELECT setting::int / 5 FROM pg_settings WHERE name = 'deadlock_timeout'"
BETWEEN_SECONDS = 0.5
PATIENCE_SECONDS = 600.0


def wait_briefly(connection: Any) -> None:
    """Let the statements of the session wait for a lock for a fifth of ``deadlock_timeout`` at most."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT set_config('lock_timeout', ({_SHARE})::text || 'ms', false)")


def wait_patiently(connection: Any) -> None:
    """Let the statements of the session wait for a lock for as long as it takes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', '0', false)")


def gave_way(error: OperationalError) -> bool:
    """Return whether the statement gave way to others, and can be tried again."""
    return isinstance(error.__cause__, LockNotAvailable | DeadlockDetected)
