"""Copying a database into a file and back, whole or not at all."""

import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, BinaryIO

import psycopg
from psycopg.conninfo import conninfo_to_dict

from paraph.kernel.errors import DomainError
from paraph.postgres.client_programs import dumping_programs, loading_programs

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
    """Write the database as the exported snapshot sees it, in pg_dump's own compressed form. Raises
    ``DomainError("postgres", …)`` with the program's words."""
    options = ["--format=custom", "--no-owner", "--no-privileges", "--no-comments", f"--snapshot={snapshot}"]
    with TemporaryFile() as errors:
        command: list[str | Path] = [_dumping_programs(url) / "pg_dump", *options]
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
        raise DomainError("database", f"The database does not answer: {' '.join(str(error).split())}") from error
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


def _dumping_programs(url: str) -> Path:
    with psycopg.connect(url) as connection:
        return dumping_programs(connection.info.server_version // 10_000)


def _environment(url: str) -> dict[str, str]:
    """Return the address that the programs connect to, kept out of their command lines, which everybody on the machine
    can read."""
    given = conninfo_to_dict(url)
    known = {option.keyword.decode(): option.envvar for option in psycopg.pq.Conninfo.get_defaults()}
    named = {envvar.decode(): str(given[name]) for name, envvar in known.items() if envvar and given.get(name)}
    return {**{name: value for name, value in os.environ.items() if not name.startswith("PG")}, **named}
