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


def client_programs(server_major: int) -> Path:
    """The folder of the first such programs that are as new as the server: those that Paraph carries, then the
    machine's. Raises ``DomainError("postgres", …)`` where there are none: ``pg_dump`` refuses a newer server."""
    for folder in _folders():
        if all((folder / name).exists() for name in _NEEDED) and _major(folder) >= server_major:
            return folder
    raise DomainError(
        "postgres",
        f"The server is PostgreSQL {server_major}, and this machine has no pg_dump, pg_restore and psql of that "
        f"version: install postgresql-client-{server_major}.",
    )


def _folders() -> Iterator[Path]:
    with suppress(PackageNotFoundError):  # an installation without the embedded server
        yield binaries.programs(None)
    yield from sorted(_DEBIAN.glob("*/bin"), key=lambda folder: folder.parent.name, reverse=True)
    if found := shutil.which("pg_dump"):
        yield Path(found).parent


def _major(folder: Path) -> int:
    said = subprocess.run([folder / "pg_dump", "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    found = re.search(r" (\d+)", said.stdout)
    return int(found[1]) if found else 0
