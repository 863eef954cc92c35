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

ROOT_HOME = Path("/var/lib/paraph")  # as root: the data folder may lie where no other user can reach it
ROOT_USER = "paraph-postgres"
_LONGEST_SOCKET_FOLDER = 90  # bytes; the kernel takes 107 for the whole path of a socket


@dataclass(frozen=True)
class Place:
    """The folders of one cluster. ``user`` is the account that must own them, None for our own."""

    home: Path
    user: str | None

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"

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


def find(data_dir: Path, postgres_dir: Path | None) -> Place:
    """The place of the cluster of a data folder, whether or not it exists yet."""
    user = ROOT_USER if os.geteuid() == 0 else None
    if postgres_dir is not None:
        return Place(postgres_dir.absolute(), user)
    return Place((data_dir / "postgres").resolve(), user)


def embedded_url(data_dir: Path, postgres_dir: Path | None) -> str:
    """The connection URL of the embedded server of this data folder (a Unix socket, no password, no TCP)."""
    return find(data_dir, postgres_dir).url


def make(data_dir: Path, postgres_dir: Path | None) -> Place:
    """Like :func:`find`, and makes the folders, mode 0700. As root the data folder gets a link to
    a folder under :data:`ROOT_HOME`, so that a new data folder never meets the cluster of an old one."""
    data_dir.mkdir(parents=True, exist_ok=True)
    link = data_dir / "postgres"
    if os.geteuid() == 0 and postgres_dir is None and not link.exists():
        home = ROOT_HOME / tokens.random_hex(8)
        home.mkdir(parents=True)
        link.unlink(missing_ok=True)
        link.symlink_to(home)
    place = find(data_dir, postgres_dir)
    for folder in (place.home, place.sockets):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        if place.user:
            account = _account(place.user)
            os.chown(folder, account.pw_uid, account.pw_gid)
    return place


def _account(name: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        subprocess.run(["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", name], check=True)  # noqa: S603, S607
        return pwd.getpwnam(name)
