"""A migration locks one table at a time: holding one and waiting for another may be a deadlock with the service.

Run by itself, this applies all migrations to the empty database of ``DATABASE_URL`` and prints which tables, of those
that were there before, each one locks against writing in one transaction."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.service import clean_environment
from tests.operations.apart import Database
from tests.upgrades import next_version

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("locks")
    database = Database(folder / "database")
    try:
        later = next_version.write(folder / "later", next_version.TABLES)
        environment = clean_environment(folder / "data", DATABASE_URL=database.url, **later)
        done = subprocess.run(
            [sys.executable, "-m", "tests.upgrades.test_locks"],
            env=environment,
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        database.remove()
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_no_migration_locks_two_tables_that_are_in_use(locked: dict[str, list[str]]) -> None:
    """Migrations that make the tables, and those of libraries before the first version, are excepted: no service is in
    use while they run."""
    earlier = {"procrastinate.0024_job_id_bigint"}
    several = {name for name, tables in locked.items() if len(tables) > 1 and not name.endswith(".0001_initial")}
    assert several - earlier == set()


def test_locks_are_seen_at_all(locked: dict[str, list[str]]) -> None:
    names = [f"expansion.{number:04}_later" for number in range(1, len(next_version.TABLES) + 1)]
    assert [locked[name] for name in names] == [[table] for table in next_version.TABLES]
    assert len(locked["signature_requests.0001_initial"]) > 1


_TABLES = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace"
_LOCKED = """
    SELECT DISTINCT relation::regclass::text FROM pg_locks
    WHERE pid = pg_backend_pid() AND locktype = 'relation'
        AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""


def lock_all() -> dict[str, list[str]]:
    """Apply all migrations. Return the tables that each one locks, of those that lock any."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    def column(statement: str) -> set[str]:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return {value for (value,) in cursor.fetchall()}

    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    state: Any = executor.loader.project_state([])
    found: dict[str, list[str]] = {}
    for migration, _ in plan:
        before = column(_TABLES)
        with connection.schema_editor(atomic=migration.atomic) as editor:
            state = migration.apply(state, editor)
            for statement in editor.deferred_sql:  # constraints and indexes, in the same transaction
                editor.execute(statement)
            editor.deferred_sql.clear()
            tables = column(_LOCKED) & before
        if tables:
            found[f"{migration.app_label}.{migration.name}"] = sorted(tables)
        executor.recorder.record_applied(migration.app_label, migration.name)
    return found


if __name__ == "__main__":
    import django

    django.setup()
    json.dump(lock_all(), sys.stdout)
