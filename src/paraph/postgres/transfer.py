"""Copying a database to a file and back, completely or not at all, by PostgreSQL programs of a fitting version."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from itertools import takewhile
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, BinaryIO

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import scalar_row

from paraph.kernel.errors import DomainError
from paraph.postgres import cluster
from paraph.postgres.cluster import running

_DEBIAN = Path("/usr/lib/postgresql")
_NEEDED = ("pg_dump", "pg_restore", "psql")


def dumping_programs(server_major: int) -> Path:
    """Return the folder of the programs of the server's own version, which know best what it keeps internally, else of
    the next newer one. Raise ``DomainError("postgres", …)`` without any: ``pg_dump`` refuses a newer server."""
    fitting = {major: folder for major, folder in _installed().items() if major >= server_major}
    if not fitting:
        raise DomainError(
            "postgres",
            f"The server is PostgreSQL {server_major}, and this machine has no pg_dump, pg_restore and psql of that "
            f"version: install postgresql-client-{server_major}.",
        )
    return fitting[min(fitting)]


def loading_programs() -> Path:
    """Return the folder of the newest programs, which read the dumps of all earlier versions. Raise
    ``DomainError("postgres", …)`` if there are none."""
    installed = _installed()
    if not installed:
        raise DomainError("postgres", "This machine has no pg_restore and psql: install postgresql-client.")
    return installed[max(installed)]


def _installed() -> dict[int, Path]:
    """Return the folder of the programs of each major version on this machine; of a version found twice, Paraph's."""
    folders = [*_DEBIAN.glob("*/bin")]
    if found := shutil.which("pg_dump"):
        folders.insert(0, Path(found).parent)
    with suppress(PackageNotFoundError):  # an installation without the embedded server
        folders.append(cluster.programs(None))
    return {_major(folder): folder for folder in folders if all((folder / name).exists() for name in _NEEDED)}


def _major(folder: Path) -> int:
    said = subprocess.run([folder / "pg_dump", "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    version = re.search(r" (\d+)", said.stdout)
    return int(version[1]) if version else 0


_KINDS = re.compile(
    rb"\d+; (\d+) (\d+) (?:SCHEMA|TYPE|FUNCTION|TABLE|SEQUENCE|SEQUENCE OWNED BY|DEFAULT|TABLE DATA|SEQUENCE SET|"
    rb"CONSTRAINT|CHECK CONSTRAINT|FK CONSTRAINT|INDEX|TRIGGER|TABLE ATTACH|INDEX ATTACH) [^\n]*\n"
)
"""Matches the lines of ``pg_restore --list`` for the kinds of objects that Paraph has; groups: kind and oid."""

_LEFT_OUT = re.compile(
    rb"SET transaction_timeout = 0;\n|ALTER TABLE ONLY [^\t]+ ALTER COLUMN [^\t]+ SET \(pg_attver=\d+\);\n"
)
"""Statements that some servers refuse and that do not concern the data: a default of newer servers, and a note that
some servers keep internally, which a ``pg_dump`` of another version takes for an option. They match no row of data,
which has tabs between its columns."""

_COPY = re.compile(rb"COPY (\S+) \(.*\) FROM stdin;\n")
_SCHEMA = re.compile(rb"CREATE SCHEMA (.+);\n")
_MAKE_SCHEMA = b"DO $$BEGIN IF to_regnamespace('%b') IS NULL THEN CREATE SCHEMA %b; END IF; END$$;\n"
_FOUND = b"""
    RESET search_path;
    DO $$BEGIN IF to_regclass('django_migrations') IS NULL THEN
        RAISE EXCEPTION 'DATABASE_URL does not lead to the schema of the tables: options=-csearch_path%%3DSCHEMA';
    END IF; END$$;
"""


@dataclass(frozen=True)
class Foreign:
    """What a dump leaves out of ``schema``, that of Paraph's tables. ``relations``: those of others, each as a pattern
    of ``pg_dump``; ``others``: kind and oid of the functions and types of others, and of what others have added to
    Paraph's tables."""

    schema: str
    relations: list[str]
    others: set[tuple[int, int]]


def dump(
    url: str, target: BinaryIO, connection: "psycopg.Connection[Any]", foreign: Foreign
) -> tuple[bytes, dict[str, int]]:
    """Dump everything of Paraph's in the database as the connection's transaction sees it, in pg_dump's own compressed
    form, and read it back. Return its table of contents, for :func:`load`, and the number of rows of each table. Raise
    ``DomainError("postgres", …)`` with the program's error output, or if the numbers of rows differ."""
    programs = dumping_programs(connection.info.server_version // 10_000)
    [snapshot] = connection.execute("SELECT pg_export_snapshot()").fetchone() or [""]
    options = ["--format=custom", "--no-owner", "--no-privileges", "--no-comments", "--no-security-labels"]
    options += ["--no-tablespaces", f"--schema={foreign.schema}", f"--snapshot={snapshot}"]
    options += [f"--exclude-table={relation}" for relation in foreign.relations]
    with running([programs / "pg_dump", *options], stdout=target, env=_environment(url)):
        pass
    target.seek(0)
    with running([programs / "pg_restore", "--list"], stdin=target, stdout=subprocess.PIPE) as process:
        lines = _KINDS.finditer(process.communicate()[0])
    contents = b"".join(line[0] for line in lines if (int(line[1]), int(line[2])) not in foreign.others)
    rows = _rows_written(programs, target, contents)
    for table, count in count_rows(connection, rows).items():
        if count != rows[table]:
            raise DomainError("postgres", f"The dump has {rows[table]} rows of {table}, and the database {count}.")
    return contents, rows


def count_rows(connection: "psycopg.Connection[Any]", tables: Iterable[str]) -> dict[str, int]:
    """Return the number of rows of each of these tables, which are named as in a dump."""
    cursor = connection.cursor(row_factory=scalar_row)
    return {table: cursor.execute(f"SELECT count(*) FROM {table}").fetchone() or 0 for table in tables}  # noqa: S608


def _rows_written(programs: Path, dumped: BinaryIO, contents: bytes) -> dict[str, int]:
    """Read the whole dump, and count the rows of each table, which end with a line of ``\\.``."""
    rows = {}
    with _script(programs, dumped, contents) as script:
        for line in script:
            if begin := _COPY.fullmatch(line):
                rows[begin[1].decode()] = sum(1 for _ in takewhile(lambda row: row != b"\\.\n", script))
    return rows


@contextmanager
def _script(programs: Path, dumped: BinaryIO, contents: bytes) -> Iterator[IO[bytes]]:
    """Yield the statements that restore these contents of a dump. Raise ``DomainError("postgres", …)`` if they end
    too early."""
    dumped.seek(0)
    with NamedTemporaryFile() as chosen:
        chosen.write(contents)
        chosen.flush()
        command: list[str | Path] = [programs / "pg_restore", "--no-owner", "--no-privileges", "--no-tablespaces"]
        command += ["--file=-", f"--use-list={chosen.name}"]
        with running(command, stdin=dumped, stdout=subprocess.PIPE) as process:
            assert process.stdout
            yield process.stdout


def load(url: str, dumped: BinaryIO, contents: bytes) -> None:
    """Restore these contents of a :func:`dump` in one transaction. Raise ``DomainError("postgres", …)`` with the
    program's error output; the database is then unchanged."""
    programs = loading_programs()
    command: list[str | Path] = [programs / "psql", "--no-psqlrc", "--quiet", "--single-transaction"]
    command += ["--set=ON_ERROR_STOP=1", "--output=/dev/null"]
    with running(command, stdin=subprocess.PIPE, env=_environment(url)) as reader:
        assert reader.stdin
        write = reader.stdin.write
        with suppress(BrokenPipeError), _script(programs, dumped, contents) as script:  # psql failed, and reports why
            for line in script:
                if schema := _SCHEMA.fullmatch(line):
                    write(_MAKE_SCHEMA % (schema[1], schema[1]))
                elif not _LEFT_OUT.fullmatch(line):
                    write(line)
            write(_FOUND)


def _environment(url: str) -> dict[str, str]:
    """Return an environment with the address that the programs connect to: their command lines can be read by everybody
    on the machine."""
    given = conninfo_to_dict(url)
    known = {option.keyword.decode(): option.envvar for option in psycopg.pq.Conninfo.get_defaults()}
    named = {envvar.decode(): str(given[name]) for name, envvar in known.items() if envvar and given.get(name)}
    return {**{name: value for name, value in os.environ.items() if not name.startswith("PG")}, **named}
