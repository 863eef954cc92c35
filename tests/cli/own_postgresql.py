"""A PostgreSQL as an operator would run it, by Debian's programs where installed, else by those Paraph carries."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg

from paraph.postgres.cluster import ROOT_USER, account, programs

_DEBIAN = Path("/usr/lib/postgresql")


class OwnPostgresql:
    """A server with an account of its own, in a new folder, that listens on a socket there. With an ``address`` it
    listens there too and trusts everybody. ``archive``: the folder that its write-ahead log may be copied to."""

    def __init__(self, address: str = "") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="paraph-own-"))
        self.data, self.archive = self.folder / "data", self.folder / "archive"
        self._user = ROOT_USER if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(self.folder, account(self._user).pw_uid, account(self._user).pw_gid)
        found = sorted(_DEBIAN.glob("*/bin"))
        self.programs = found[-1] if found else programs(self._user)
        self.url = f"postgresql://paraph@/paraph?host={address or self.folder}"
        self._address = address

    def create(self) -> None:
        """Make the cluster, start the server and make the database."""
        self.run(f"{self.programs}/initdb -D {self.data} -U paraph -A trust -E UTF8 --locale=C.UTF-8")
        self.run(f"mkdir {self.archive}")
        if self._address:
            self.run(f"echo 'host all,replication all 0.0.0.0/0 trust' >> {self.data}/pg_hba.conf")
        self.start()
        self.run(f"{self.programs}/createdb -h {self.folder} -U paraph paraph")

    def follow(self, primary: "OwnPostgresql") -> None:
        """Make the cluster a standby that follows the primary by streaming, and start it."""
        source = f"-h {primary.folder} -U paraph -D {self.data} -R -X stream --checkpoint=fast"
        self.run(f"{self.programs}/pg_basebackup {source}")
        self.start()

    def ask(self, statement: str) -> str:
        """Run the statement as the owner. Return the first value of the answer, or ""."""
        with psycopg.connect(f"postgresql://paraph@/paraph?host={self.folder}", autocommit=True) as connection:
            answered = connection.execute(statement.encode())
            row = answered.fetchone() if answered.description else None
            return str(row[0]) if row else ""

    def promote(self) -> None:
        self.run(f"{self.programs}/pg_ctl -D {self.data} -w -t 60 promote")

    def start(self) -> None:
        places = f"-c listen_addresses='{self._address}' -c unix_socket_directories={self.folder}"
        options = f"{places} -c max_connections=200 -c fsync=off"
        self.run(f'{self.programs}/pg_ctl -D {self.data} -w -t 60 -l {self.folder}/log -o "{options}" start')

    def stop(self, mode: str = "fast", *, wait: bool = True) -> None:
        self.run(f"{self.programs}/pg_ctl -D {self.data} {'-w -t 60' if wait else '-W'} -m {mode} stop")

    def remove(self) -> None:
        if (self.data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder)

    def run(self, script: str) -> None:
        """Run a line of shell as the server's account."""
        owner = account(self._user) if self._user else None
        identity = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner else {}
        with (self.folder / "output").open("ab") as output:
            command = ["sh", "-ec", script]
            done = subprocess.run(command, cwd=self.folder, stdout=output, stderr=output, check=False, **identity)  # type: ignore[call-overload]
        assert done.returncode == 0, (self.folder / "output").read_text()
