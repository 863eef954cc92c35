"""Copying a database into a file and back, whole or not at all, by programs of a version that fits its server."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, BinaryIO

import psycopg
from psycopg.conninfo import conninfo_to_dict

from paraph.kernel.errors import DomainError
from paraph.postgres import cluster

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

_TABLES = """
    SELECT EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind IN ('r', 'p') AND nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%')
"""


def dump(url: str, target: BinaryIO, snapshot: str) -> None:
    """Write the database as the exported snapshot sees it, in pg_dump's own compressed form. Raise
    ``DomainError("postgres", …)`` with the program's words."""
    options = ["--format=custom", "--no-owner", "--no-privileges", "--no-comments", f"--snapshot={snapshot}"]
    with psycopg.connect(url) as connection:
        programs = dumping_programs(connection.info.server_version // 10_000)
    with TemporaryFile() as errors:
        command: list[str | Path] = [programs / "pg_dump", *options]
        process = subprocess.Popen(command, stdout=target, stderr=errors, env=_environment(url))  # noqa: S603
        _require(process, "pg_dump", errors)


def load(url: str, source: Path) -> None:
    """Make what :func:`dump` wrote in one transaction. Raise ``DomainError("postgres", …)`` with the program's words;
    the database is then as it was."""
    programs = loading_programs()
    script: list[str | Path] = [programs / "pg_restore", "--no-owner", "--no-privileges", "--file=-", source]
    run: list[str | Path] = [programs / "psql", "--no-psqlrc", "--quiet", "--single-transaction"]
    run += ["--set=ON_ERROR_STOP=1", "--output=/dev/null"]
    with (
        TemporaryFile() as said,
        TemporaryFile() as errors,
        subprocess.Popen(script, stdout=subprocess.PIPE, stderr=said) as writer,  # noqa: S603
        subprocess.Popen(run, stdin=subprocess.PIPE, stderr=errors, env=_environment(url)) as reader,  # noqa: S603
    ):
        assert writer.stdout and reader.stdin
        try:
            _pass_on(writer.stdout, reader.stdin)
            _require(writer, "pg_restore", said)
        except BrokenPipeError:
            writer.kill()
        except BaseException:
            reader.kill()  # before it takes the end of its input for the end of the script, and commits
            writer.kill()
            raise
        with suppress(BrokenPipeError):  # the program has ended, and says why
            reader.stdin.close()
        _require(reader, "psql", errors)


def is_empty(url: str) -> bool:
    """Return whether the database has no table. Raise ``DomainError("database", …)`` where it does not answer."""
    try:
        with psycopg.connect(url, connect_timeout=10) as connection:
            found = connection.execute(_TABLES).fetchone()
    except psycopg.OperationalError as error:
        raise DomainError("database", f"The database is not responding: {' '.join(str(error).split())}") from error
    return found == (False,)


def _pass_on(script: IO[bytes], target: IO[bytes]) -> None:
    for line in script:
        if not _LEFT_OUT.fullmatch(line):
            target.write(line)
    target.flush()


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
