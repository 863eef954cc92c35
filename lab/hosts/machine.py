"""A host with ``paraph web`` and ``paraph worker``, which nobody starts again."""

import signal
import subprocess
import sys
from pathlib import Path

import httpx

from lab.hosts.network import Host
from tests.cli.service import Service, wait_until

PATIENCE = 180  # s for a start or an end, on a machine that runs other tests as well
_PORT = 8000


class Machine:
    def __init__(self, name: str, number: int, folder: Path, settings: dict[str, str], workers: int) -> None:
        self.host = Host(name, number)
        self.log = folder / f"{name}.log"
        own = {"PARAPH_HOST": self.host.address, "PARAPH_DRAIN_SECONDS": "8"}
        self._environment = Service(folder / name, **settings, **own).environment | {"PARAPH_PORT": str(_PORT)}
        self._commands = ["web"] + ["worker"] * workers
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        self._processes = [self.begin(command) for command in self._commands]

    def begin(self, command: str, **settings: str) -> "subprocess.Popen[bytes]":
        """Start one of the host's processes, with further settings."""
        environment = self._environment | settings
        with self.log.open("ab") as log:
            program = [sys.executable, "-m", "paraph", command]
            return self.host.begin(program, env=environment, stdout=log, stderr=log)

    def wait(self) -> None:
        """Wait until the host can serve."""
        wait_until(lambda: self.answer("/readyz") == 200 or not self.is_whole(), PATIENCE)
        assert self.is_whole(), self.log.read_text()[-4000:]

    def answer(self, path: str) -> int:
        """Return the status that the host itself answers, past the balancer; 0 where nobody listens."""
        try:
            return httpx.get(f"http://{self.host.address}:{_PORT}{path}", timeout=10).status_code
        except httpx.TransportError:
            return 0

    def is_whole(self) -> bool:
        """Whether all of its processes are running."""
        return all(process.poll() is None for process in self._processes)

    def terminate(self) -> None:
        """Ask all of its processes to end."""
        for process in self._processes:
            process.send_signal(signal.SIGTERM)

    def ended(self) -> list[int]:
        """Wait until its processes have ended; return their exit statuses."""
        return [process.wait(PATIENCE) for process in self._processes]

    def kill(self) -> None:
        self.host.kill()
        assert set(self.ended()) == {-signal.SIGKILL}
