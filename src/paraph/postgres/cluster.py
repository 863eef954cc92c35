"""Making a cluster, whole or not at all."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.postgres.binaries import VERSION
from paraph.postgres.location import Place, account

_DRAFT = "cluster.new-"
_LEAST_FREE_MB = 200  # a new cluster, its write-ahead log and some room


def ensure(place: Place, programs: Path) -> None:
    """Makes the cluster unless it exists. Raises ``DomainError("postgres", …)`` when the disk is full, when the
    cluster is another version's, or when what is there is no cluster."""
    for draft in place.home.glob(f"{_DRAFT}*"):
        shutil.rmtree(draft)
    mark = place.cluster / "PG_VERSION"
    if mark.exists():
        version = mark.read_text().strip()
        if version != VERSION:
            raise DomainError(
                "postgres",
                f"The cluster {place.cluster} is PostgreSQL {version}'s, and Paraph carries {VERSION}: move its data "
                f"with pg_dump of {version}, or set DATABASE_URL to a server that runs it.",
            )
        return
    if place.cluster.exists() and any(place.cluster.iterdir()):
        raise DomainError("postgres", f"The folder {place.cluster} holds something else than a PostgreSQL cluster.")
    free = shutil.disk_usage(place.home).free >> 20
    if free < _LEAST_FREE_MB:
        raise DomainError(
            "postgres", f"Only {free} MB are free at {place.home}; PostgreSQL needs {_LEAST_FREE_MB} to begin with."
        )
    _create(place, programs)


def _create(place: Place, programs: Path) -> None:
    """``initdb`` in a folder aside, then one rename: a start that is cut off leaves nothing half made."""
    draft = place.home / f"{_DRAFT}{tokens.random_hex(4)}"
    options = ["-U", "paraph", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--data-checksums"]
    run(place, [programs / "initdb", "-D", draft, *options])
    draft.rename(place.cluster)


def run(place: Place, command: list[str | Path]) -> None:
    """Runs a program as the owner of the cluster. Raises ``DomainError("postgres", …)`` with what it said."""
    try:
        subprocess.run(command, cwd=place.home, capture_output=True, check=True, **credentials(place))  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        said = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error).encode()
        last = said.decode(errors="replace").strip().rpartition("\n")[2]
        raise DomainError("postgres", f"{Path(command[0]).name} failed: {last}") from error


def credentials(place: Place) -> dict[str, Any]:
    """What ``subprocess`` needs to become the owner of the cluster, none of root's groups left."""
    if not place.user:
        return {}
    owner = account(place.user)
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
