"""The migrations of the database: how many are missing, and applying them."""

import time

import structlog
from django.contrib.postgres.operations import AddIndexConcurrently
from django.core.management import call_command
from django.core.management.commands.migrate import Command
from django.db import OperationalError, connection
from django.db.backends.utils import CursorWrapper
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from psycopg import sql
from psycopg.errors import LockNotAvailable

from paraph.database.sessions import UNKEPT, connection_parameters, keeps_sessions
from paraph.kernel.errors import DomainError

_ADVISORY_LOCK = 0x50415241  # "PARA"
_PAUSE_SECONDS = 0.1
_TABLE_SECONDS = 2  # for which a migration waits for a table; every statement that comes meanwhile waits behind it
_BETWEEN_SECONDS = 1.0
_PATIENCE_SECONDS = 600

_log = structlog.get_logger("paraph.migrations")


def migrate() -> int:
    """Applies the missing migrations and returns their number. Several processes may call it at once, while the
    service works, and again after it was killed.

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
                _apply()
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


def _apply() -> None:
    """Applies what is missing. Where tables are in use for long, each migration is tried again and again. Raises
    ``DomainError("database", …)`` after ten minutes."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            call_command(_BrieflyWaiting(), verbosity=0, interactive=False)
        except OperationalError as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            if time.monotonic() > until:
                sentence = "A migration needs a table that others hold for ten minutes: end their transactions."
                raise DomainError("database", sentence) from error
            _log.warning("a migration waits for a table that is in use", cause=" ".join(str(error).split()))
        else:
            _set_lock_timeout(0)
            return
        time.sleep(_BETWEEN_SECONDS)


class _BrieflyWaiting(Command):
    """Django's command. A migration within a transaction waits for a table only so long that requests outlive it; one
    without makes indexes concurrently, which holds up nobody, takes the time it needs, and can be begun again."""

    def migration_progress_callback(self, action: str, migration: Migration | None = None, fake: bool = False) -> None:
        if action == "apply_start" and migration:
            _set_lock_timeout(_TABLE_SECONDS if migration.atomic else 0)
            _drop_indexes_of(migration)
        super().migration_progress_callback(action, migration, fake)


def _drop_indexes_of(migration: Migration) -> None:
    """Drops what is left of the migration where it was killed while it made indexes concurrently."""
    for operation in migration.operations:
        if isinstance(operation, AddIndexConcurrently):
            with connection.cursor() as cursor:
                name = sql.Identifier(str(operation.index.name))
                cursor.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(name))


def _set_lock_timeout(seconds: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [f"{seconds}s"])


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
