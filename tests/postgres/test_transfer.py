"""A database is copied whole, or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from paraph.kernel.errors import DomainError
from paraph.postgres import embedded_url, transfer
from paraph.postgres.transfer import dumping_programs

_LOOKS_LEFT_OUT = "SET transaction_timeout = 0;"


@contextmanager
def new_database(name: str) -> Iterator[str]:
    url = embedded_url(Path(os.environ["PARAPH_DATA_DIR"]), None)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield url.removesuffix("/paraph") + f"/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def source() -> Iterator[str]:
    name = f"source_{os.getpid()}"
    with new_database(name) as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept (id serial PRIMARY KEY, words text)")
            for words in ("é\n\t\\", _LOOKS_LEFT_OUT, None, os.urandom(50_000).hex()):
                connection.execute("INSERT INTO kept (words) VALUES (%s)", [words])
        yield url


@pytest.fixture
def target() -> Iterator[str]:
    with new_database(f"target_{os.getpid()}") as url:
        yield url


def dump(url: str, path: Path, meanwhile: str = "SELECT 1") -> Path:
    with psycopg.connect(url) as connection, path.open("wb") as file:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        [snapshot] = connection.execute("SELECT pg_export_snapshot()").fetchone() or [""]
        with psycopg.connect(url, autocommit=True) as other:
            other.execute(meanwhile)
        transfer.dump(url, file, str(snapshot))
    return path


def rows(url: str) -> list[tuple[int, str]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT id, words FROM kept ORDER BY id").fetchall()


@pytest.mark.thorough
def test_what_the_snapshot_sees_is_copied(source: str, target: str, tmp_path: Path) -> None:
    before = rows(source)
    path = dump(source, tmp_path / "dump", meanwhile="INSERT INTO kept (words) VALUES ('later')")
    assert transfer.is_empty(target) and not transfer.is_empty(source)
    transfer.load(target, path)
    assert rows(target) == before and len(rows(source)) == len(before) + 1
    with psycopg.connect(target) as connection:
        [number] = connection.execute("INSERT INTO kept (words) VALUES ('next') RETURNING id").fetchone() or [0]
    assert number > len(before), "sequences go on"


def test_a_dump_that_ends_too_early_leaves_nothing(source: str, target: str, tmp_path: Path) -> None:
    path = dump(source, tmp_path / "dump")
    os.truncate(path, path.stat().st_size - 20_000)
    with pytest.raises(DomainError, match="failed"):
        transfer.load(target, path)
    assert transfer.is_empty(target)


def test_what_cannot_be_made_leaves_nothing(source: str, target: str, tmp_path: Path) -> None:
    path = dump(source, tmp_path / "dump")
    with psycopg.connect(target) as connection:
        connection.execute("CREATE VIEW kept_pkey AS SELECT 1")  # the name of an index that is made after the rows
    with pytest.raises(DomainError, match=r"psql failed: .*kept_pkey"):
        transfer.load(target, path)
    assert transfer.is_empty(target)


@pytest.mark.parametrize(
    ("line", "left_out"),
    [
        (b"SET transaction_timeout = 0;\n", True),
        (b"ALTER TABLE ONLY public.a ALTER COLUMN b SET (pg_attver=28043880);\n", True),
        (b"ALTER TABLE ONLY public.a ALTER COLUMN b SET (n_distinct=5);\n", False),
        (b"1\tSET transaction_timeout = 0;\n", False),
    ],
)
def test_statements_that_say_nothing_of_the_data_are_left_out(line: bytes, left_out: bool) -> None:
    assert bool(transfer._LEFT_OUT.fullmatch(line)) is left_out


def test_a_server_newer_than_every_program_is_told() -> None:
    with pytest.raises(DomainError, match="install postgresql-client-99"):
        dumping_programs(99)
