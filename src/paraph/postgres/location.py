"""Where a cluster and its socket live, and under which user."""

import hashlib
import os
import pwd
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError

ROOT_HOME = Path("/var/lib/paraph")  # as root: the data folder may lie where no other user can reach it
ROOT_USER = "paraph-postgres"
_LONGEST_SOCKET_FOLDER = 90  # bytes; the kernel takes 107 for the whole path of a socket


@dataclass(frozen=True)
class ClusterLocation:
    """The folders of one cluster. ``user`` is the account that must own them, None for our own."""

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
    """The location of the cluster of a data folder, whether or not it exists yet."""
    user = ROOT_USER if os.geteuid() == 0 else None
    if postgres_dir is not None:
        return ClusterLocation(postgres_dir.absolute(), user)
    return ClusterLocation((data_dir / "postgres").resolve(), user)


def embedded_url(data_dir: Path, postgres_dir: Path | None) -> str:
    """The connection URL of the embedded server of this data folder (a Unix socket, no password, no TCP)."""
    return find_location(data_dir, postgres_dir).url


def make_location(data_dir: Path, postgres_dir: Path | None) -> ClusterLocation:
    """Like :func:`find_location`, and makes the folders, mode 0700. As root the data folder gets a link to
    a folder under :data:`ROOT_HOME`, so that a new data folder never meets the cluster of an old one.

    Folders above them are never changed. Raises ``DomainError("postgres", …)`` when one cannot be made.
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
    """The account of this name, made if there is none (only ever as root)."""
    try:
        return pwd.getpwnam(name)
    except KeyError:
        pass
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
    """Makes the folder ours alone, or the user's alone. A folder of somebody else is refused: in a shared
    temporary folder it may be a trap."""
    owner = account(user) if user else None
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.stat()
    if owner and found.st_uid == 0:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    elif found.st_uid != (owner.pw_uid if owner else os.geteuid()):
        raise DomainError("postgres", f"The folder {folder} belongs to another user.")
    folder.chmod(0o700)
