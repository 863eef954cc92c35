"""``paraph web`` and ``paraph worker`` without a supervisor, on a PostgreSQL of their own that tests stop and start."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

from paraph.postgres import Server, cluster
from paraph.postgres.cluster import programs
from tests import first_start
from tests.cli.service import Service, remove

Mode = Literal["fast", "immediate", "smart"]


class Database:
    """A server of the programs that Paraph carries, in the hands of an operator. ``begun``: on a copy of what a first
    start leaves, which belongs to the installation of that
    ``secret`` and has an API ``key``."""

    secret = ""
    key = ""

    def __init__(self, folder: Path, *, begun: bool = False) -> None:
        self._folder = folder
        if begun:
            self.key = first_start.copy(folder)
            self.secret = (folder / "secret.key").read_text()
        self._server = Server(folder, connections=80)
        self._server.start()
        self.url = self._server.url
        self.location = self._server.location

    def stop(self, mode: Mode) -> None:
        pg_ctl = programs(self.location.user) / "pg_ctl"
        cluster.run(self.location, [pg_ctl, "stop", "-w", "-t", "30", "-m", mode, "-D", self.location.cluster])
        self._server.stop()  # takes the exit status

    def begin_smart_stop(self) -> None:
        """No new connection is taken from now on, and the server ends with the last one."""
        self._server._process.send_signal(signal.SIGTERM)  # type: ignore[union-attr]

    def start(self) -> None:
        self._server.start()

    def remove(self) -> None:
        self._server.stop()
        remove(self._folder)


class Parts:
    """The processes, each alone. ``service`` has their environment, and runs commands in it."""

    def __init__(self, folder: Path, database_url: str, **settings: str) -> None:
        few = {"PARAPH_WEB_PROCESSES": "1", "PARAPH_RATE_LIMIT_FACTOR": "100", "DATABASE_URL": database_url}
        self.service = Service(folder / "data", **{**few, **settings})
        self.url = self.service.base_url
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, command: str, **settings: str) -> subprocess.Popen[bytes]:
        with self._log(command).open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "paraph", command],
                env={**self.service.environment, **settings},
                stdout=log,
                stderr=log,
            )
        self._processes[command] = process
        return process

    def log(self, command: str) -> str:
        return self._log(command).read_text()

    def end(self, command: str, seconds: float = 40) -> tuple[int, float]:
        """The exit status after SIGTERM, and how long that took."""
        process, began = self._processes.pop(command), time.monotonic()
        process.send_signal(signal.SIGTERM)
        return process.wait(seconds), time.monotonic() - began

    def remove(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.wait()
        remove(self.service.data_dir)

    def _log(self, command: str) -> Path:
        return self._folder / f"{command}.log"
