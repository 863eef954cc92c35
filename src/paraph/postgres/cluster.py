"""Creating a cluster, whole or not at all."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.postgres.binaries import VERSION
from paraph.postgres.location import ClusterLocation, account

_UNFINISHED = "cluster.new-"
_LEAST_FREE_MB = 200  # a new cluster, its write-ahead log and some room


def ensure(location: ClusterLocation, programs: Path) -> None:
    """Create the cluster unless it exists. Raise ``DomainError("postgres", …)`` when the disk is full, the cluster is
    of another version, or its folder holds something else."""
    for unfinished in location.home.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(unfinished)
    version_file = location.cluster / "PG_VERSION"
    if version_file.exists():
        version = version_file.read_text().strip()
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
    """Run ``initdb`` in another folder and rename it, so that an interrupted start leaves no half-made cluster."""
    unfinished = location.home / f"{_UNFINISHED}{tokens.random_hex(4)}"
    options = ["-U", "paraph", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--data-checksums"]
    run(location, [programs / "initdb", "-D", unfinished, *options])
    unfinished.rename(location.cluster)


def run(location: ClusterLocation, command: list[str | Path]) -> None:
    """Run a program as the owner of the cluster. Raise ``DomainError("postgres", …)`` with its last line of
    output."""
    try:
        subprocess.run(command, cwd=location.home, capture_output=True, check=True, **credentials(location))  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        output = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error).encode()
        last = output.decode(errors="replace").strip().rpartition("\n")[2]
        raise DomainError("postgres", f"{Path(command[0]).name} failed: {last}") from error


def credentials(location: ClusterLocation) -> dict[str, Any]:
    """Return the arguments of ``subprocess`` that make a child the owner of the cluster, without any of root's
    groups."""
    if not location.user:
        return {}
    owner = account(location.user)
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
