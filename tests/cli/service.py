"""A real ``paraph serve``: its own process, port, data folder and database."""

import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, TextIO

import httpx

from paraph.keys.development import root_file
from tests import first_start
from tests.cli import forked

SMALL = {"PARAPH_WORKER_PROCESSES": "1", "PARAPH_WEB_PROCESSES": "1"}
READY_SECONDS = 180  # machines that run tests are busy, and a first start takes 20 s on a slow one
_READY = "Paraph is ready"
_KEY = re.compile(r"\s+[0-9a-f]{64}\s*")
_SERVERS = (15_000, 32_000)  # Linux gives higher ports to clients


class Service:
    """``base_url``: the address without a path; ``output``: the lines printed so far; ``memory``: the bytes of address
    space that each process may have."""

    memory: int | None = None

    key: str
    """The API key that the first start printed (sandbox, enterprise plan); known after :meth:`begin`."""

    def __init__(self, data_dir: Path, **settings: str) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.output: list[str] = []
        self.environment = clean_environment(data_dir, PARAPH_PORT=str(self.port), **settings)
        self.process: subprocess.Popen[str] | None = None

    @classmethod
    def like(cls, other: "Service") -> Self:
        """Return a service that exists already as one of this class."""
        made = cls.__new__(cls)
        vars(made).update(vars(other))
        return made

    def begin(self) -> None:
        """Start it for the first time, on a copy of what a first start leaves."""
        self.key = first_start.copy(self.data_dir)
        self.start()

    def start(self, *options: str) -> None:
        """Start it and return once it is ready. Fail with all of its output when it ends before that."""
        ready, already = threading.Event(), len(self.output)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "paraph", "serve", *options],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if self.memory:
            resource.prlimit(self.process.pid, resource.RLIMIT_AS, (self.memory, self.memory))
        assert self.process.stdout
        reader = threading.Thread(target=self._listen, args=(self.process.stdout, ready), daemon=True)
        reader.start()
        if not ready.wait(READY_SECONDS) or not any(line.startswith(_READY) for line in self.output[already:]):
            self.stop()
            raise AssertionError("the service did not start:\n" + "".join(self.output))

    def first_key(self) -> str:
        """Wait for the API key that a first start prints after it has said that it is ready."""
        wait_until(lambda: any(map(_KEY.fullmatch, self.output)))
        return next(filter(_KEY.fullmatch, self.output)).strip()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop and return its exit status."""
        assert self.process
        self.process.send_signal(number)
        return self.process.wait(90)

    def command(self, *arguments: str) -> Any:
        """Return what an operator's command answers with ``--json``. Raise ``CalledProcessError`` when it refuses."""
        done = self.run(*arguments, "--json")
        done.check_returncode()
        return json.loads(done.stdout)

    def run(self, *arguments: str, given: str = "", **settings: str) -> "subprocess.CompletedProcess[str]":
        """Return the output and exit status of an operator's command. ``given`` is its standard input."""
        return forked.run("paraph", *arguments, environment={**self.environment, **settings}, given=given)

    def refusal(self, *arguments: str, **settings: str) -> str:
        """Return the error of a command that is refused and prints nothing else."""
        done = self.run(*arguments, **settings)
        assert (done.returncode, done.stdout) == (1, ""), done
        return done.stderr.strip()

    def commands(self, wanted: list[list[str]]) -> list[Any]:
        """Return what several commands answer that run one after the other in one process."""
        return several(wanted, self.environment)

    def new_application(self, plan: str = "enterprise", environment: str = "sandbox", *more: str) -> dict[str, Any]:
        """Return its ``id``, ``organization_id`` (a new one), ``api_key`` and ``webhook_secret``. ``more``: options."""
        options = ["--organization", "{id}", "--environment", environment, "--name", "backend", *more]
        wanted = [["organization", "create", "Acme", "--plan", plan], ["application", "create", *options]]
        made: dict[str, Any] = self.commands(wanted)[-1]
        return made

    def new_key(self, plan: str = "enterprise", environment: str = "sandbox") -> str:
        """Return the API key of a new application of a new organization."""
        return str(self.new_application(plan, environment)["api_key"])

    @property
    def root(self) -> Path:
        """The root certificate that seals of the sandbox, and all timestamps, lead to."""
        return root_file(self.data_dir / "keys")

    def inbox(self) -> list[dict[str, str]]:
        """The captured messages, newest last."""
        found: list[dict[str, str]] = self.command("inbox")
        return found

    def processes(self) -> dict[int, str]:
        """The process id and command line of every process that was started with our data folder."""
        return processes_of(self.data_dir)

    def _listen(self, stream: TextIO, ready: threading.Event) -> None:
        with stream:
            for line in stream:
                self.output.append(line)
                if line.startswith(_READY):
                    ready.set()
        ready.set()


@contextlib.contextmanager
def small_service(data_dir: Path, **settings: str) -> Iterator[Service]:
    """A service with one process of each kind, on a copy of what a first start leaves; removed afterwards."""
    service = Service(data_dir, **SMALL, **settings)
    service.begin()
    try:
        yield service
    finally:
        service.stop()
        remove(data_dir)


def status(address: str) -> int:
    """The HTTP status that the address answers; 0 where nothing answers."""
    try:
        return httpx.get(address, timeout=30).status_code
    except httpx.TransportError:
        return 0


def paraph(*arguments: str, data_dir: Path, **settings: str) -> "subprocess.CompletedProcess[str]":
    """The output and exit status of a command, without a service of this data folder."""
    return forked.run("paraph", *arguments, environment=clean_environment(data_dir, **settings))


def several(wanted: list[list[str]], environment: dict[str, str]) -> list[Any]:
    """The answers of these commands, run in one process with that environment."""
    done = forked.run("tests.cli.several", environment=environment, given=json.dumps(wanted))
    done.check_returncode()
    answers: list[Any] = json.loads(done.stdout)
    return answers


def clean_environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """This process's environment without what belongs to the tests' own database."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PARAPH_", "DATABASE_URL", "DJANGO_", "PYTEST_"))
    }
    source = str(Path(__file__).parents[2] / "src")
    return {**kept, "PYTHONPATH": source, "PARAPH_DATA_DIR": str(data_dir), **settings}


def free_port() -> int:
    """A free port that Linux gives to no client: many connections are made before the server listens on it."""
    while True:
        port = random.randrange(*_SERVERS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def processes_of(data_dir: Path) -> dict[int, str]:
    found = {}
    mark = os.fsencode(data_dir)
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command, environment = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
        except OSError:
            continue
        if command and mark in command + environment:
            found[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


def name_of(pid: int) -> str:
    """ "" where the process has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def remove(data_dir: Path) -> None:
    """Remove a data folder with its cluster, which lies elsewhere when root runs the tests."""
    shutil.rmtree((data_dir / "postgres").resolve(), ignore_errors=True)
    shutil.rmtree(data_dir, ignore_errors=True)


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
