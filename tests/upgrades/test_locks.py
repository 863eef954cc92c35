"""Migrations while the tables are in use, and after one was killed. A migration locks one table at a time: holding one
and waiting for another may be a deadlock with the service.

Run by itself, this applies all migrations to the empty database of ``DATABASE_URL`` and prints which tables, of those
that were there before, each one locks against writing in one transaction."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.service import clean_environment, wait_until
from tests.operations.apart import Database, Parts
from tests.upgrades import next_version

pytestmark = pytest.mark.thorough

COUNTED = 100_000
SIGNERS = f"""
    INSERT INTO signature_requests_signer
        (id, request_id, first_name, last_name, email, phone, "order", otp_channel, status, token_salt, locale)
    SELECT number, number, 'Zoë', 'Lindqvist', 'a@example.com', '', 1, 'email', 'pending', '', ''
    FROM generate_series(1, {COUNTED}) AS number
"""
COUNT = "SELECT count(*) FROM otp_onetimecode"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    folder = tmp_path_factory.mktemp("migrations")
    database = Database(folder)
    assert Parts(folder, database.url).start("migrate").wait() == 0
    yield database
    database.remove()


@pytest.fixture
def parts(database: Database, tmp_path: Path) -> Parts:
    return Parts(tmp_path, database.url)


def test_whoever_comes_while_a_migration_waits_is_served_soon(database: Database, parts: Parts, tmp_path: Path) -> None:
    with psycopg.connect(database.url) as others, psycopg.connect(database.url, autocommit=True) as requests:
        requests.execute("SET statement_timeout = '30s'")  # a statement that waits longer fails the test
        others.execute(COUNT)  # begins a transaction that goes on
        migration = parts.start("migrate", **next_version.write(tmp_path, ["otp_onetimecode"]))
        # At last a statement waits behind the migration, which gives way before PostgreSQL looks for a deadlock.
        wait_until(lambda: seconds(requests) > 0.05, seconds=180)
        assert max(seconds(requests) for _ in range(100)) < 0.8
        wait_until(lambda: "a migration waits for a table" in parts.log("migrate"), seconds=20)
        assert migration.poll() is None
        others.rollback()
        assert migration.wait(60) == 0
        requests.execute("ALTER TABLE otp_onetimecode DROP COLUMN later")
        requests.execute("DELETE FROM django_migrations WHERE app = 'expansion'")
    assert "a migration waits for a table that is in use" in parts.log("migrate")


def test_a_step_through_many_rows_tells_where_it_is_and_goes_on_there(
    database: Database, parts: Parts, tmp_path: Path
) -> None:
    later = next_version.write(tmp_path)
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # nothing but rows: no triggers, no references
        connection.execute(SIGNERS)
        first = parts.start("migrate", **later)
        wait_until(lambda: done_to(connection) > 0, seconds=60)
        first.kill()
        first.wait()
        first_log, kept = parts.log("migrate"), done_to(connection)
        assert 0 < kept <= COUNTED
        assert parts.start("migrate", **later).wait(120) == 0
        done = connection.execute("SELECT later, count(*) FROM signature_requests_signer GROUP BY 1").fetchall()
        assert done == [(1, COUNTED)]
        assert done_to(connection) == 0
    lines = [json.loads(line) for line in first_log.splitlines()]
    [begins] = [line for line in lines if line["event"] == "migrations begin"]
    assert begins["count"] == len(next_version.TABLES) + 1
    assert begins["estimated_seconds"] == round(COUNTED * 50e-6 + 0.1 * begins["count"])
    logged = parts.log("migrate").removeprefix(first_log).splitlines()
    again = [json.loads(line) for line in logged if line.startswith("{")]  # not what the command itself prints
    [told] = [line for line in again if line["event"] == "migrations begin"]
    assert (told["count"], told["estimated_seconds"] < begins["estimated_seconds"]) == (1, True)
    assert next(line["name"] for line in lines if line["event"] == "migration") == "expansion.0001_later"


def done_to(connection: "psycopg.Connection[tuple[object, ...]]") -> int:
    """The position up to which the step is done, 0 before it begins and after it has ended."""
    if connection.execute("SELECT to_regclass('migration_positions')").fetchone() == (None,):
        return 0
    row = connection.execute("SELECT coalesce(max(done_to), 0)::int FROM migration_positions").fetchone()
    return int(str(row[0])) if row else 0


def seconds(connection: "psycopg.Connection[tuple[object, ...]]") -> float:
    began = time.monotonic()
    connection.execute(COUNT)
    return time.monotonic() - began


def test_one_that_was_killed_while_it_made_indexes_is_begun_again(
    database: Database, parts: Parts, tmp_path: Path
) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("DELETE FROM django_migrations WHERE app = 'expansion'")
        connection.execute("CREATE INDEX code_by_end ON otp_onetimecode (expires_at)")
        connection.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'code_by_end'::regclass")
        assert parts.start("migrate", **next_version.write_indexes(tmp_path)).wait() == 0
        indexes = "indexrelid IN ('code_by_end'::regclass, 'code_by_use'::regclass)"
        valid = f"SELECT bool_and(indisvalid), count(*) FROM pg_index WHERE {indexes}"
        assert connection.execute(valid).fetchone() == (True, 2)


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
