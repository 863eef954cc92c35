"""Migrations while the tables are in use, and after one was killed."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.cli.service import clean_environment, wait_until
from tests.operations.apart import Database
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
    assert migrate(database, folder).wait() == 0
    yield database
    database.remove()


def migrate(database: Database, folder: Path, **settings: str) -> "subprocess.Popen[bytes]":
    environment = clean_environment(folder / "data", DATABASE_URL=database.url, **settings)
    command = [sys.executable, "-m", "paraph", "migrate"]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, env=environment, stderr=log)


def test_whoever_comes_while_a_migration_waits_is_served_soon(database: Database, tmp_path: Path) -> None:
    with psycopg.connect(database.url) as others, psycopg.connect(database.url, autocommit=True) as requests:
        requests.execute("SET statement_timeout = '30s'")  # a statement that waits longer fails the test
        others.execute(COUNT)  # begins a transaction that goes on
        migration = migrate(database, tmp_path, **next_version.write(tmp_path, ["otp_onetimecode"]))
        # At last a statement waits behind the migration, which gives way before PostgreSQL looks for a deadlock.
        log = tmp_path / "log"
        wait_until(lambda: seconds(requests) > 0.05, seconds=180)
        assert max(seconds(requests) for _ in range(100)) < 0.8
        wait_until(lambda: "a migration waits for a table" in log.read_text(), seconds=20)
        assert migration.poll() is None
        others.rollback()
        assert migration.wait(60) == 0
        requests.execute("ALTER TABLE otp_onetimecode DROP COLUMN later")
        requests.execute("DELETE FROM django_migrations WHERE app = 'expansion'")
    assert "a migration waits for a table that is in use" in (tmp_path / "log").read_text()


def test_a_step_through_many_rows_tells_where_it_is_and_goes_on_there(database: Database, tmp_path: Path) -> None:
    later = next_version.write(tmp_path)
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")  # nothing but rows: no triggers, no references
        connection.execute(SIGNERS)
        first = migrate(database, tmp_path, **later)
        wait_until(lambda: done_to(connection) > 0, seconds=60)
        first.kill()
        first.wait()
        first_log, kept = (tmp_path / "log").read_text(), done_to(connection)
        assert 0 < kept <= COUNTED
        second = migrate(database, tmp_path, **later)
        assert second.wait(120) == 0
        done = connection.execute("SELECT later, count(*) FROM signature_requests_signer GROUP BY 1").fetchall()
        assert done == [(1, COUNTED)]
        assert done_to(connection) == 0
    lines = [json.loads(line) for line in first_log.splitlines()]
    [begins] = [line for line in lines if line["event"] == "migrations begin"]
    assert begins["count"] == len(next_version.TABLES) + 1
    assert begins["estimated_seconds"] == round(COUNTED * 50e-6 + 0.1 * begins["count"])
    again = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
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


def test_one_that_was_killed_while_it_made_indexes_is_begun_again(database: Database, tmp_path: Path) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("DELETE FROM django_migrations WHERE app = 'expansion'")
        connection.execute("CREATE INDEX code_by_end ON otp_onetimecode (expires_at)")
        connection.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'code_by_end'::regclass")
        assert migrate(database, tmp_path, **next_version.write_indexes(tmp_path)).wait() == 0
        indexes = "indexrelid IN ('code_by_end'::regclass, 'code_by_use'::regclass)"
        valid = f"SELECT bool_and(indisvalid), count(*) FROM pg_index WHERE {indexes}"
        assert connection.execute(valid).fetchone() == (True, 2)
