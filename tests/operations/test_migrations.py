"""Migrations while the tables are in use, and after one was killed."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.cli.service import clean_environment, wait_until
from tests.operations.apart import Database

pytestmark = pytest.mark.thorough

COUNT = "SELECT count(*) FROM otp_onetimecode"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    folder = tmp_path_factory.mktemp("migrations")
    database = Database(folder)
    assert migrate(database, folder).wait() == 0
    yield database
    database.remove()


def migrate(database: Database, folder: Path) -> "subprocess.Popen[bytes]":
    environment = clean_environment(folder / "data", DATABASE_URL=database.url)
    command = [sys.executable, "-m", "paraph", "migrate"]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, env=environment, stderr=log)


def test_whoever_comes_while_a_migration_waits_is_served_soon(database: Database, tmp_path: Path) -> None:
    with psycopg.connect(database.url) as others, psycopg.connect(database.url, autocommit=True) as requests:
        requests.execute("DELETE FROM django_migrations WHERE app = 'otp' AND name = '0005_replaced_hash'")
        requests.execute("ALTER TABLE otp_onetimecode DROP COLUMN replaced_hash")
        requests.execute("SET statement_timeout = '30s'")  # what waits longer fails the test
        others.execute(COUNT)  # begins a transaction that goes on
        migration = migrate(database, tmp_path)
        # In the end a statement waits behind the migration, which gives way to it.
        wait_until(lambda: seconds(requests) > 0.5, seconds=180)
        assert migration.poll() is None
        others.rollback()
        assert migration.wait(60) == 0
    assert "a migration waits for a table that is in use" in (tmp_path / "log").read_text()


def seconds(connection: "psycopg.Connection[tuple[object, ...]]") -> float:
    began = time.monotonic()
    connection.execute(COUNT)
    return time.monotonic() - began


def test_one_that_was_killed_while_it_made_indexes_is_begun_again(database: Database, tmp_path: Path) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("DELETE FROM django_migrations WHERE app = 'evidence' AND name = '0006_failed_timestamps'")
        connection.execute("DROP INDEX prooffile_attempts")
        connection.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sealeddocument_attempts'::regclass"
        )
        assert migrate(database, tmp_path).wait() == 0
        indexes = "indexrelid IN ('sealeddocument_attempts'::regclass, 'prooffile_attempts'::regclass)"
        valid = f"SELECT bool_and(indisvalid), count(*) FROM pg_index WHERE {indexes}"
        assert connection.execute(valid).fetchone() == (True, 2)
