"""The migrations of the database: how many are missing; applying them while the service runs, with brief waits for
locks, so that no request fails; and steps through many rows."""

import time
from typing import Any

import structlog
from django.contrib.postgres.operations import AddIndexConcurrently
from django.core.management import call_command
from django.core.management.commands.migrate import Command
from django.db import OperationalError, connection, migrations, transaction
from django.db.backends.utils import CursorWrapper
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from procrastinate.contrib.django.utils import connector_params
from psycopg import sql
from psycopg.errors import DeadlockDetected, LockNotAvailable

from paraph.database.connections import UNKEPT, keeps_sessions
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
            cursor.execute("DROP TABLE IF EXISTS migration_positions")
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
            found += operation.seconds()
        elif isinstance(operation, AddIndexConcurrently):
            with connection.cursor() as cursor:
                cursor.execute(_ROWS, [f"{migration.app_label}_{operation.model_name}".lower()])
                rows = cursor.fetchone()
            found += float(rows[0]) * _INDEXED_MICROSECONDS / 1e6 if rows else 0.0
    return found


def _apply(count: int, *, told: bool) -> None:
    """Apply the ``count`` missing migrations; ``told``: log a line for each. A migration whose tables are in use is
    tried again and again. Raise ``DomainError("database", …)`` after ten minutes."""
    until = time.monotonic() + _PATIENCE_SECONDS
    command = _BrieflyWaiting(count, told=told)
    while True:
        try:
            call_command(command, verbosity=0, interactive=False)
        except OperationalError as error:
            if not _gave_way(error):
                raise
            if time.monotonic() > until:
                sentence = "A migration needs a table that others hold for ten minutes: end their transactions."
                raise DomainError("database", sentence) from error
            _log.warning("a migration waits for a table that is in use", cause=" ".join(str(error).split()))
        else:
            _wait_patiently()
            return
        time.sleep(_BETWEEN_SECONDS)


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
            (_wait_briefly if migration.atomic else _wait_patiently)()
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


_SHARE = "SELECT setting::int / 5 FROM pg_settings WHERE name = 'deadlock_timeout'"
_BETWEEN_SECONDS = 0.5
_PATIENCE_SECONDS = 600.0


def _wait_briefly() -> None:
    """Let the statements of the session wait for a lock for a fifth of ``deadlock_timeout`` at most."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT set_config('lock_timeout', ({_SHARE})::text || 'ms', false)")


def _wait_patiently() -> None:
    """Let the statements of the session wait for a lock for as long as it takes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', '0', false)")


def _gave_way(error: OperationalError) -> bool:
    """Return whether the statement failed because others hold a lock, and can be tried again."""
    return isinstance(error.__cause__, LockNotAvailable | DeadlockDetected)


_AT_ONCE = 2_000
_LOG_SECONDS = 2.0
_IDS = """
    SELECT coalesce(min(id), 0), coalesce(max(id) + 1, 0),
        coalesce((SELECT done_to FROM migration_positions WHERE step = %s), 0) FROM {}
"""
_POSITIONS = "CREATE TABLE IF NOT EXISTS migration_positions (step text PRIMARY KEY, done_to bigint NOT NULL)"


class InBatches(migrations.RunPython):
    """Execute ``statement`` for all ids of the rows that ``table`` has now, in batches; its values are the first id of
    a batch and the one after the last. Each batch is a transaction, which also stores its progress under the name
    ``step``, which must never be used again. Rows that come later have to be handled by triggers or code.
    ``microseconds``: the time for a row on two cores, for estimates. For migrations that are not atomic."""

    def __init__(self, step: str, table: str, statement: str, microseconds: int) -> None:
        super().__init__(self._execute, migrations.RunPython.noop)
        self.step = step
        self.table = table
        self.statement = statement
        self.microseconds = microseconds

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return type(self).__qualname__, [self.step, self.table, self.statement, self.microseconds], {}

    def seconds(self) -> float:
        """Estimate the seconds that are left, from the number of ids that are left."""
        _first, start, end = self._ids()
        return (end - start) * self.microseconds / 1e6

    def _execute(self, _apps: Any, _editor: Any) -> None:
        first, start, end = self._ids()
        logged_at = time.monotonic()
        _wait_briefly()
        for begin in range(start, end, _AT_ONCE):
            done_to = min(begin + _AT_ONCE, end)
            self._batch(begin, done_to)
            if time.monotonic() > logged_at + _LOG_SECONDS:
                logged_at, done = time.monotonic(), (done_to - first) / (end - first)
                _log.info("a migration goes through rows", step=self.step, done=f"{done:.0%}")
        _wait_patiently()

    def _batch(self, start: int, end: int) -> None:
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                with transaction.atomic(), connection.cursor() as cursor:
                    cursor.execute(self.statement, [start, end])
                    cursor.execute(
                        "INSERT INTO migration_positions VALUES (%s, %s) "
                        "ON CONFLICT (step) DO UPDATE SET done_to = excluded.done_to",
                        [self.step, end],
                    )
                return
            except OperationalError as error:
                if not _gave_way(error) or time.monotonic() > until:
                    raise
            time.sleep(_BETWEEN_SECONDS)

    def _ids(self) -> tuple[int, int, int]:
        """Return the first id of the table, the one to go on from, and the one after the last."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [self.table])
            if not cursor.fetchone()[0]:  # a pending migration will make it
                return 0, 0, 0
            cursor.execute(_POSITIONS)
            cursor.execute(sql.SQL(_IDS).format(sql.Identifier(self.table)), [self.step])
            first, end, done_to = cursor.fetchone()
            start = max(first, done_to)
            return first, start, max(start, end)
