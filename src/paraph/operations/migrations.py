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
from procrastinate.contrib.django.utils import connector_params
from psycopg import sql

from paraph.database.connections import UNKEPT, keeps_sessions
from paraph.database.slow_migrations import (
    BETWEEN_SECONDS,
    PATIENCE_SECONDS,
    InBatches,
    forget_positions,
    gave_way,
    wait_briefly,
    wait_patiently,
)
from paraph.kernel.errors import DomainError

_ADVISORY_LOCK = 0x50415241  # "PARA"
_PAUSE_SECONDS = 0.1
_MIGRATION_SECONDS = 0.1  # for a migration that neither reads a table nor waits for one
_INDEXED_MICROSECONDS = 10  # for each row of an index that is made concurrently, which reads the table twice
_ROWS = """
    SELECT CASE WHEN reltuples < 0 THEN pg_relation_size(oid) / 100 ELSE reltuples END FROM pg_class
    WHERE oid = to_regclass(%s)
"""

_log = structlog.get_logger("paraph.migrations")


def migrate(*, newer_tables: bool = False) -> int:
    """Apply the missing migrations and return their number. Several processes may call it at once, while the service
    runs, and again after it was killed. Raise ``DomainError("database", …)`` when a newer version of Paraph has
    migrated the database already, unless ``newer_tables`` allows this version to use those tables, and when connections
    do not keep their sessions behind a pooler, so that this function's lock could end up with another client."""
    with connection.cursor() as cursor:
        if not keeps_sessions(**connector_params()):
            raise DomainError("database", UNKEPT)
        _lock(cursor)
        try:
            executor = MigrationExecutor(connection)
            plan = _plan(executor)
            _refuse_newer(executor, is_wanted=newer_tables and not plan)
            if plan:
                is_first = not executor.loader.applied_migrations
                seconds = max(1, round(sum(map(_seconds, plan))))
                if not is_first:
                    _log.info("migrations begin", count=len(plan), estimated_seconds=seconds)
                began = time.monotonic()
                _apply(len(plan), told=not is_first)
                _log.info("migrations are done", count=len(plan), seconds=round(time.monotonic() - began, 1))
            forget_positions(connection)
            return len(plan)
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_ADVISORY_LOCK])


def _lock(cursor: CursorWrapper) -> None:
    """Take the lock by trying again and again: creating an index concurrently waits for every running statement, even
    for one that waits for this lock."""
    while True:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_ADVISORY_LOCK])
        if cursor.fetchone()[0]:
            return
        time.sleep(_PAUSE_SECONDS)


def _seconds(migration: Migration) -> float:
    """Estimate the seconds that a migration will take, from the number of rows, if nobody holds locks on its tables."""
    found = _MIGRATION_SECONDS
    for operation in migration.operations:
        if isinstance(operation, InBatches):
            found += operation.seconds(connection)
        elif isinstance(operation, AddIndexConcurrently):
            with connection.cursor() as cursor:
                cursor.execute(_ROWS, [f"{migration.app_label}_{operation.model_name}".lower()])
                rows = cursor.fetchone()
            found += float(rows[0]) * _INDEXED_MICROSECONDS / 1e6 if rows else 0.0
    return found


def _apply(count: int, *, told: bool) -> None:
    """Apply the ``count`` missing migrations; ``told``: log a line for each. A migration whose tables are in use is
    tried again and again. Raise ``DomainError("database", …)`` after ten minutes."""
    until = time.monotonic() + PATIENCE_SECONDS
    command = _BrieflyWaiting(count, told=told)
    while True:
        try:
            call_command(command, verbosity=0, interactive=False)
        except OperationalError as error:
            if not gave_way(error):
                raise
            if time.monotonic() > until:
                sentence = "A migration needs a table that others hold for ten minutes: end their transactions."
                raise DomainError("database", sentence) from error
            _log.warning("a migration waits for a table that is in use", cause=" ".join(str(error).split()))
        else:
            wait_patiently(connection)
            return
        time.sleep(BETWEEN_SECONDS)


class _BrieflyWaiting(Command):
    """Django's command. A migration in a transaction waits for a table only so briefly that no request fails because
    of it. One without a transaction creates indexes concurrently, which blocks nobody; it takes the time it needs and
    can be started again. ``count``: the number of migrations; ``told``: log each when it is done."""

    def __init__(self, count: int, *, told: bool) -> None:
        super().__init__()
        self._count, self._told = count, told
        self._applied = 0
        self._began = 0.0

    def migration_progress_callback(self, action: str, migration: Migration | None = None, fake: bool = False) -> None:
        if action == "apply_start" and migration:
            (wait_briefly if migration.atomic else wait_patiently)(connection)
            _drop_indexes_of(migration)
            self._began = time.monotonic()
        if action == "apply_success" and migration:
            self._applied += 1
            seconds = round(time.monotonic() - self._began, 1)
            name = f"{migration.app_label}.{migration.name}"
            if self._told:
                _log.info("migration", name=name, number=self._applied, of=self._count, seconds=seconds)
        super().migration_progress_callback(action, migration, fake)


def _drop_indexes_of(migration: Migration) -> None:
    """Drop the unfinished indexes of a migration that was killed while it created them concurrently."""
    for operation in migration.operations:
        if isinstance(operation, AddIndexConcurrently):
            with connection.cursor() as cursor:
                name = sql.Identifier(str(operation.index.name))
                cursor.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(name))


def missing_migrations() -> int:
    """Return the number of this version's migrations that the database lacks."""
    return len(_plan(MigrationExecutor(connection)))


def _refuse_newer(executor: MigrationExecutor, *, is_wanted: bool) -> None:
    loader = executor.loader
    unknown = [
        f"{app}.{name}"
        for app, name in loader.applied_migrations
        if app in loader.migrated_apps and (app, name) not in loader.disk_migrations
    ]
    if unknown and not is_wanted:
        raise DomainError("database", f"The database belongs to a newer Paraph: it has {', '.join(unknown)}.")
    if unknown:
        _log.warning("going on with the tables of a newer version", migrations=unknown)


def _plan(executor: MigrationExecutor) -> list[Migration]:
    return [migration for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
