"""Copying a database into a file and back, whole or not at all, by programs of a version that fits its server."""

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO, Any, BinaryIO

import psycopg
from psycopg.conninfo import conninfo_to_dict

from paraph.kernel.errors import DomainError
from paraph.postgres import cluster
from paraph.postgres.contents import foreign

_DEBIAN = Path("/usr/lib/postgresql")
_NEEDED = ("pg_dump", "pg_restore", "psql")


def dumping_programs(server_major: int) -> Path:
    """Return the folder of the programs of the server's own version, else of the next newer one: what a server keeps
    for itself is known best to its own. Raise ``DomainError("postgres", …)`` where there are none: ``pg_dump`` refuses
    a newer server."""
    fitting = [(major, folder) for major, folder in _found() if major >= server_major]
    if not fitting:
        raise DomainError(
            "postgres",
            f"The server is PostgreSQL {server_major}, and this machine has no pg_dump, pg_restore and psql of that "
            f"version: install postgresql-client-{server_major}.",
        )
    return min(fitting, key=_by_major)[1]


def loading_programs() -> Path:
    """Return the folder of the newest programs, which read what all before them have written. Raise
    ``DomainError("postgres", …)`` where there are none."""
    found = list(_found())
    if not found:
        raise DomainError("postgres", "This machine has no pg_restore and psql: install postgresql-client.")
    return max(found, key=_by_major)[1]


def _found() -> Iterator[tuple[int, Path]]:
    for folder in _folders():
        if all((folder / name).exists() for name in _NEEDED):
            yield _major(folder), folder


def _folders() -> Iterator[Path]:
    with suppress(PackageNotFoundError):  # an installation without the embedded server
        yield cluster.programs(None)
    yield from _DEBIAN.glob("*/bin")
    if found := shutil.which("pg_dump"):
        yield Path(found).parent


def _by_major(found: tuple[int, Path]) -> int:
    return found[0]


def _major(folder: Path) -> int:
    said = subprocess.run([folder / "pg_dump", "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    version = re.search(r" (\d+)", said.stdout)
    return int(version[1]) if version else 0


_LEFT_OUT = re.compile(
    rb"SET transaction_timeout = 0;\n|ALTER TABLE ONLY [^\t]+ ALTER COLUMN [^\t]+ SET \(pg_attver=\d+\);\n"
)
"""Statements that not every server takes, and that say nothing of the data: a default of newer servers, and a note that
some servers keep for themselves, which a ``pg_dump`` of another version takes for an option. A row of data would have
tabs between its columns."""

_OURS = """
    SELECT to_regclass('django_migrations') IS NOT NULL OR EXISTS (
        SELECT FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace JOIN pg_roles AS r ON r.oid = relowner
        WHERE relkind IN ('r', 'p') AND nspname = current_schema() AND rolname = current_user AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e'
        )
    )
"""
_COPY = re.compile(rb"COPY (\S+) \(.*\) FROM stdin;\n")
_SCHEMA = re.compile(rb"CREATE SCHEMA (.+);\n")
_MAKE_SCHEMA = b"DO $$BEGIN IF to_regnamespace('%b') IS NULL THEN CREATE SCHEMA %b; END IF; END$$;\n"
_FOUND = b"""
    RESET search_path;
    DO $$BEGIN IF to_regclass('django_migrations') IS NULL THEN
        RAISE EXCEPTION 'DATABASE_URL does not lead to the schema of the tables: options=-csearch_path%%3DSCHEMA';
    END IF; END$$;
"""


def dump(url: str, target: BinaryIO, connection: "psycopg.Connection[Any]") -> tuple[bytes, dict[str, int]]:
    """Write what is Paraph's of the database as the connection's transaction sees it, in pg_dump's own compressed form,
    and read it back. Return its table of contents, for :func:`load`, and the number of rows of each table. Raise
    ``DomainError("postgres", …)`` with the program's words, or where another number of rows is read."""
    programs = dumping_programs(connection.info.server_version // 10_000)
    [snapshot] = connection.execute("SELECT pg_export_snapshot()").fetchone() or [""]
    others = foreign(connection)
    options = ["--format=custom", "--no-owner", "--no-privileges", "--no-comments", "--no-security-labels"]
    options += ["--no-tablespaces", f"--schema={others.schema}", f"--snapshot={snapshot}"]
    options += [f"--exclude-table={relation}" for relation in others.relations]
    _run([programs / "pg_dump", *options], stdout=target, env=_environment(url))
    with TemporaryFile() as listed:
        target.seek(0)
        _run([programs / "pg_restore", "--list"], stdin=target, stdout=listed)
        listed.seek(0)
        contents = others.without(listed.read())
    rows = _rows_written(programs, target, contents)
    for table, count in count_rows(connection, rows).items():
        if count != rows[table]:
            raise DomainError("postgres", f"The dump has {rows[table]} rows of {table}, and the database {count}.")
    return contents, rows


def count_rows(connection: "psycopg.Connection[Any]", tables: Iterable[str]) -> dict[str, int]:
    """Return the number of rows of each of these tables, which are named as in a dump."""
    counted = {}
    for table in tables:
        [counted[table]] = connection.execute(f"SELECT count(*) FROM {table}").fetchone() or [0]  # noqa: S608
    return counted


def _rows_written(programs: Path, dumped: BinaryIO, contents: bytes) -> dict[str, int]:
    """Read the whole dump, and count."""
    rows, table = Counter[str](), ""
    with _script(programs, dumped, contents) as script:
        for line in script:
            if start := _COPY.fullmatch(line):
                table = start[1].decode()
                rows[table] = 0
            elif line == b"\\.\n":
                table = ""
            elif table:
                rows[table] += 1
    return rows


@contextmanager
def _script(programs: Path, dumped: BinaryIO, contents: bytes) -> Iterator[IO[bytes]]:
    """Give the statements that make these contents of a dump. Raise ``DomainError("postgres", …)`` where they end too
    early."""
    dumped.seek(0)
    with NamedTemporaryFile() as chosen, TemporaryFile() as errors:
        chosen.write(contents)
        chosen.flush()
        command: list[str | Path] = [programs / "pg_restore", "--no-owner", "--no-privileges", "--no-tablespaces"]
        command += ["--file=-", f"--use-list={chosen.name}"]
        with subprocess.Popen(command, stdin=dumped, stdout=subprocess.PIPE, stderr=errors) as process:  # noqa: S603
            assert process.stdout
            try:
                yield process.stdout
            except BaseException:
                process.kill()
                raise
            _require(process, "pg_restore", errors)


def load(url: str, dumped: BinaryIO, contents: bytes) -> None:
    """Make these contents of what :func:`dump` wrote in one transaction. Raise ``DomainError("postgres", …)`` with the
    program's words; the database is then as it was."""
    programs = loading_programs()
    run: list[str | Path] = [programs / "psql", "--no-psqlrc", "--quiet", "--single-transaction"]
    run += ["--set=ON_ERROR_STOP=1", "--output=/dev/null"]
    with (
        TemporaryFile() as errors,
        subprocess.Popen(run, stdin=subprocess.PIPE, stderr=errors, env=_environment(url)) as reader,  # noqa: S603
    ):
        assert reader.stdin
        try:
            with suppress(BrokenPipeError), _script(programs, dumped, contents) as script:
                _pass_on(script, reader.stdin)
        except BaseException:
            reader.kill()  # before it takes the end of its input for the end of the script, and commits
            raise
        with suppress(BrokenPipeError):  # the program has ended, and says why
            reader.stdin.close()
        _require(reader, "psql", errors)


def is_empty(url: str) -> bool:
    """Return whether the database has nothing of Paraph's, and no table of ours in its place; what extensions and
    others have does not matter. Raise ``DomainError("database", …)`` where it does not answer."""
    try:
        with psycopg.connect(url, connect_timeout=10) as connection:
            found = connection.execute(_OURS).fetchone()
    except psycopg.OperationalError as error:
        raise DomainError("database", f"The database is not responding: {' '.join(str(error).split())}") from error
    return found == (False,)


def _pass_on(script: IO[bytes], target: IO[bytes]) -> None:
    for line in script:
        if schema := _SCHEMA.fullmatch(line):
            target.write(_MAKE_SCHEMA % (schema[1], schema[1]))
        elif not _LEFT_OUT.fullmatch(line):
            target.write(line)
    target.write(_FOUND)
    target.flush()


def _run(command: list[str | Path], **how: Any) -> None:
    with TemporaryFile() as errors:
        _require(subprocess.Popen(command, stderr=errors, **how), Path(command[0]).name, errors)  # noqa: S603


def _require(process: subprocess.Popen[bytes], name: str, errors: BinaryIO) -> None:
    if process.wait():
        errors.seek(0)
        words = " ".join(errors.read().decode(errors="replace").split())
        raise DomainError("postgres", f"{name} failed: {words[-500:]}")


def _environment(url: str) -> dict[str, str]:
    """Return the address that the programs connect to, kept out of their command lines, which everybody on the machine
    can read."""
    given = conninfo_to_dict(url)
    known = {option.keyword.decode(): option.envvar for option in psycopg.pq.Conninfo.get_defaults()}
    named = {envvar.decode(): str(given[name]) for name, envvar in known.items() if envvar and given.get(name)}
    return {**{name: value for name, value in os.environ.items() if not name.startswith("PG")}, **named}
