"""Making a cluster, whole or not at all."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.postgres.binaries import VERSION
from paraph.postgres.location import ClusterLocation, account

_DRAFT = "cluster.new-"
_LEAST_FREE_MB = 200  # a new cluster, its write-ahead log and some room


def ensure(location: ClusterLocation, programs: Path) -> None:
    """Makes the cluster unless it exists. Raises ``DomainError("postgres", …)`` when the disk is full, when the
    cluster is another version's, or when what is there is no cluster."""
    for draft in location.home.glob(f"{_DRAFT}*"):
        shutil.rmtree(draft)
    mark = location.cluster / "PG_VERSION"
    if mark.exists():
        version = mark.read_text().strip()
        if version != VERSION:
            raise DomainError(
                "postgres",
                f"The cluster {location.cluster} is PostgreSQL {version}'s, and Paraph carries {VERSION}: move its "
                f"data with pg_dump of {version}, or set DATABASE_URL to a server that runs it.",
            )
        return
    if location.cluster.exists() and any(location.cluster.iterdir()):
        raise DomainError("postgres", f"The folder {location.cluster} holds something else than a PostgreSQL cluster.")
    free = shutil.disk_usage(location.home).free >> 20
    if free < _LEAST_FREE_MB:
        raise DomainError(
            "postgres", f"Only {free} MB are free at {location.home}; PostgreSQL needs {_LEAST_FREE_MB} to begin with."
        )
    _create(location, programs)


def _create(location: ClusterLocation, programs: Path) -> None:
    """``initdb`` in a folder aside, then one rename: a start that is cut off leaves nothing half made."""
    draft = location.home / f"{_DRAFT}{tokens.random_hex(4)}"
    options = ["-U", "paraph", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--data-checksums"]
    run(location, [programs / "initdb", "-D", draft, *options])
    draft.rename(location.cluster)


def run(location: ClusterLocation, command: list[str | Path]) -> None:
    """Runs a program as the owner of the cluster. Raises ``DomainError("postgres", …)`` with what it said."""
    try:
        subprocess.run(command, cwd=location.home, capture_output=True, check=True, **credentials(location))  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        said = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error).encode()
        last = said.decode(errors="replace").strip().rpartition("\n")[2]
        raise DomainError("postgres", f"{Path(command[0]).name} failed: {last}") from error


def credentials(location: ClusterLocation) -> dict[str, Any]:
    """What ``subprocess`` needs to become the owner of the cluster, none of root's groups left."""
    if not location.user:
        return {}
    owner = account(location.user)
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
