"""The folders of a cluster and its socket, and the account that owns them."""

import hashlib
import os
import pwd
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError

ROOT_HOME = Path("/var/lib/paraph")  # as root, since other users may not reach the data folder
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
    """Make the folders of :func:`find_location`, with mode 0700, and return the location.

    As root, the folder of the cluster is a link to a new folder below :data:`ROOT_HOME`, so that a new data folder
    never gets the cluster of an old one. Parent folders are never changed. Raise ``DomainError("postgres", …)``.
    """
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.geteuid() == 0 and postgres_dir is None:
            _link(data_dir / "postgres")
        location = find_location(data_dir, postgres_dir)
        for folder in (location.home, location.sockets):
            _own(folder, location.user)
    except OSError as error:
        raise DomainError(
            "postgres", f"The folder of the database cannot be made: {error.filename}: {error.strerror}."
        ) from error
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
        raise DomainError(
            "postgres",
            f"PostgreSQL does not run as root, and the account {name} for it cannot be made: "
            "create it, start Paraph as an ordinary user, or set DATABASE_URL.",
        ) from error


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
