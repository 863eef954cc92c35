"""The programs that copy a database: ``pg_dump``, ``pg_restore`` and ``psql``, of a version that fits its server."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError
from pathlib import Path

from paraph.kernel.errors import DomainError
from paraph.postgres import binaries

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
    """Return the folder of the newest programs, which read what all before them have written. Raises
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
        yield binaries.programs(None)
    yield from _DEBIAN.glob("*/bin")
    if found := shutil.which("pg_dump"):
        yield Path(found).parent


def _by_major(found: tuple[int, Path]) -> int:
    return found[0]


def _major(folder: Path) -> int:
    said = subprocess.run([folder / "pg_dump", "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    version = re.search(r" (\d+)", said.stdout)
    return int(version[1]) if version else 0
