"""``paraph web`` and ``paraph worker`` without a supervisor, on one machine or two, with a PostgreSQL of their own that
tests stop and start while whole flows go on."""

import itertools
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx

from paraph.postgres import Server, cluster
from paraph.postgres.cluster import programs
from tests import first_start
from tests.cli.service import Service, remove, status, wait_until


class Database:
    """A server that runs the programs Paraph carries, as an operator's own would. ``begun``: on a copy of what a first
    start leaves, which belongs to the installation of that ``secret`` and has an API ``key``."""

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

    def stop(self, mode: Literal["fast", "immediate"]) -> None:
        pg_ctl = programs(self.location.user) / "pg_ctl"
        cluster.run(self.location, [pg_ctl, "stop", "-w", "-t", "30", "-m", mode, "-D", self.location.cluster])
        self._server.stop()  # collects the exit status

    def start(self) -> None:
        self._server.start()

    def remove(self) -> None:
        self._server.stop()
        remove(self._folder)


class Parts:
    """The processes, each started alone. ``service`` has their environment, and runs commands in it."""

    def __init__(self, folder: Path, database_url: str, **settings: str) -> None:
        few = {"PARAPH_WEB_PROCESSES": "1", "PARAPH_RATE_LIMIT_FACTOR": "100", "DATABASE_URL": database_url}
        self.service = Service(folder / "data", **{**few, **settings})
        self.url = self.service.base_url
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, command: str, *options: str, **settings: str) -> subprocess.Popen[bytes]:
        with self._log(command).open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "paraph", command, *options],
                env={**self.service.environment, **settings},
                stdout=log,
                stderr=log,
            )
        self._processes[command] = process
        return process

    def log(self, command: str) -> str:
        return self._log(command).read_text()

    def end(self, command: str, seconds: float = 40) -> tuple[int, float]:
        """End the process with SIGTERM. Return its exit status and the seconds that it took."""
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


_PATIENCE = 180  # s; machines that run tests are busy
_COMMANDS = ("web", "worker")


class Machines:
    """Each call goes to the next machine that serves, so one machine is asked for what another has made."""

    def __init__(self, machines: list[Parts]) -> None:
        self.all = machines
        self._serving: list[Parts] = []
        self._turn = itertools.count()

    def call(self, method: str, url: str, client: httpx.Client | None = None, **what: Any) -> httpx.Response:
        """Call the next machine. ``url``: a path, or an address that the service gave out."""
        serving = self._serving
        path = urlsplit(url)._replace(scheme="", netloc="").geturl()
        address = serving[next(self._turn) % len(serving)].url + path
        return (client.request if client else httpx.request)(method, address, timeout=60, **what)

    def start(self, machine: Parts, **settings: str) -> None:
        """Start the machine and return once it serves."""
        for command in _COMMANDS:
            machine.start(command, **settings)
        wait_until(lambda: status(f"{machine.url}/readyz") == 200, _PATIENCE)
        self._serving = [*self._serving, machine]

    def restart(self, machine: Parts, **settings: str) -> None:
        """Start the machine again; it answers the calls and finishes the jobs that it has before it ends."""
        self._serving = [other for other in self._serving if other is not machine]
        assert [machine.end(command)[0] for command in _COMMANDS] == [0, 0]
        self.start(machine, **settings)

    def logs(self) -> list[str]:
        return [machine.log(command) for machine in self.all for command in _COMMANDS]

    def remove(self) -> None:
        for machine in self.all:
            machine.remove()


class Flows:
    """What so many ``people`` do at once, each flow after flow. ``once``: does a flow and returns its request's id;
    ``patience``: the seconds that a flow may take; ``requests``: the ids so far. An error in a flow is raised by
    :meth:`go_on` and :meth:`end`."""

    def __init__(self, once: Callable[[], int], patience: float, people: int = 1) -> None:
        self._once, self._patience = once, patience
        self._enough = threading.Event()
        self._fault: BaseException | None = None
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(people)]
        self.requests: list[int] = []

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def go_on(self, flows: int) -> None:
        """Return after this many more flows."""
        wanted = len(self.requests) + flows
        wait_until(lambda: len(self.requests) >= wanted or self._fault is not None, self._patience)
        self._raise()

    def end(self) -> list[int]:
        """Finish the current flows. Return the ids of all requests."""
        self._enough.set()
        for thread in self._threads:
            thread.join(self._patience)
        self._raise()
        assert not any(thread.is_alive() for thread in self._threads), "a flow does not end"
        return self.requests

    def _run(self) -> None:
        try:
            while not self._enough.is_set():
                self.requests.append(self._once())
        except BaseException as fault:  # noqa: BLE001  raised by go_on and end
            self._fault = fault

    def _raise(self) -> None:
        if self._fault:
            raise self._fault
