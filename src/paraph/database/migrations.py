"""Migrations while the service runs: brief waits for locks, so that no request fails, and steps through many rows."""

import time
from typing import Any

import structlog
from django.db import OperationalError, migrations, transaction
from psycopg import sql
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
    """Return whether the statement failed because others hold a lock, and can be tried again."""
    return isinstance(error.__cause__, LockNotAvailable | DeadlockDetected)


_AT_ONCE = 2_000
_LOG_SECONDS = 2.0
_IDS = """
    SELECT coalesce(min(id), 0), coalesce(max(id) + 1, 0),
        coalesce((SELECT done_to FROM migration_positions WHERE step = %s), 0) FROM {}
"""
_POSITIONS = "CREATE TABLE IF NOT EXISTS migration_positions (step text PRIMARY KEY, done_to bigint NOT NULL)"

_log = structlog.get_logger("paraph.migrations")


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

    def seconds(self, connection: Any) -> float:
        """Estimate the seconds that are left, from the number of ids that are left."""
        _first, start, end = self._ids(connection)
        return (end - start) * self.microseconds / 1e6

    def _execute(self, _apps: Any, editor: Any) -> None:
        connection = editor.connection
        first, start, end = self._ids(connection)
        logged_at = time.monotonic()
        wait_briefly(connection)
        for begin in range(start, end, _AT_ONCE):
            done_to = min(begin + _AT_ONCE, end)
            self._batch(connection, begin, done_to)
            if time.monotonic() > logged_at + _LOG_SECONDS:
                logged_at, done = time.monotonic(), (done_to - first) / (end - first)
                _log.info("a migration goes through rows", step=self.step, done=f"{done:.0%}")
        wait_patiently(connection)

    def _batch(self, connection: Any, start: int, end: int) -> None:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with transaction.atomic(connection.alias), connection.cursor() as cursor:
                    cursor.execute(self.statement, [start, end])
                    cursor.execute(
                        "INSERT INTO migration_positions VALUES (%s, %s) "
                        "ON CONFLICT (step) DO UPDATE SET done_to = excluded.done_to",
                        [self.step, end],
                    )
                return
            except OperationalError as error:
                if not gave_way(error) or time.monotonic() > until:
                    raise
            time.sleep(BETWEEN_SECONDS)

    def _ids(self, connection: Any) -> tuple[int, int, int]:
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


def forget_positions(connection: Any) -> None:
    """Drop the table of positions, once all migrations are done."""
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS migration_positions")
