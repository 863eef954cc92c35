"""The migrations of the database: how many are missing, and applying them."""

import time

from django.core.management import call_command
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.migrations.executor import MigrationExecutor

from paraph.database.sessions import UNKEPT, connection_parameters, keeps_sessions
from paraph.kernel.errors import DomainError

_ADVISORY_LOCK = 0x50415241  # "PARA"
_PAUSE_SECONDS = 0.1


def migrate() -> int:
    """Applies the missing migrations and returns their number. Several processes may call it at once.

    Raises ``DomainError("database", …)`` when a newer version of Paraph has migrated the database already, and when
    a pooler takes sessions apart, which would take this function's lock for another's.
    """
    with connection.cursor() as cursor:
        if not keeps_sessions(**connection_parameters()):
            raise DomainError("database", UNKEPT)
        _lock(cursor)
        try:
            executor = MigrationExecutor(connection)
            _refuse_newer(executor)
            missing = _missing(executor)
            if missing:
                call_command("migrate", verbosity=0, interactive=False)
            return missing
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_ADVISORY_LOCK])


def _lock(cursor: CursorWrapper) -> None:
    """Waits by asking again and again: an index that is made concurrently waits for every statement that runs, also for
    one that waits for this lock."""
    while True:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_ADVISORY_LOCK])
        if cursor.fetchone()[0]:
            return
        time.sleep(_PAUSE_SECONDS)


def missing_migrations() -> int:
    """The number of this version's migrations that the database lacks."""
    return _missing(MigrationExecutor(connection))


def _refuse_newer(executor: MigrationExecutor) -> None:
    loader = executor.loader
    unknown = [
        f"{app}.{name}"
        for app, name in loader.applied_migrations
        if app in loader.migrated_apps and (app, name) not in loader.disk_migrations
    ]
    if unknown:
        raise DomainError("database", f"The database belongs to a newer Paraph: it has {', '.join(unknown)}.")


def _missing(executor: MigrationExecutor) -> int:
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
