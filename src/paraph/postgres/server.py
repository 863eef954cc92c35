"""The embedded server: sized, started, watched, restarted and stopped."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psycopg

from paraph.kernel import machine
from paraph.kernel.errors import DomainError
from paraph.kernel.machine import follow_parent
from paraph.postgres import cluster
from paraph.postgres.cluster import programs
from paraph.postgres.location import make_location

_MB = 1 << 20


def tuning(sockets: Path, connections: int) -> dict[str, str]:
    """Return the settings that differ from PostgreSQL's defaults. ``connections``: the maximum."""
    memory = machine.memory_bytes() // _MB
    return {
        "listen_addresses": "",  # connections come through the socket only
        "unix_socket_directories": str(sockets),
        "unix_socket_permissions": "0700",
        "max_connections": str(connections),
        "shared_buffers": f"{_between(64, memory // 8, 1024)}MB",
        "effective_cache_size": f"{max(memory // 2, 128)}MB",
        "maintenance_work_mem": f"{_between(32, memory // 32, 512)}MB",
        "work_mem": "8MB",
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "wal_level": "replica",
        "wal_compression": "on",
        "max_wal_size": "2GB",
        "checkpoint_timeout": "15min",
        "random_page_cost": "1.1",
        "jit": "off",  # for short statements, compiling costs more than it saves
        "max_worker_processes": str(max(machine.cores(), 4)),
        "idle_in_transaction_session_timeout": "10min",
        # The log gets faults of the server, never statements of clients, which contain keys and codes.
        "log_min_error_statement": "panic",
        "log_error_verbosity": "terse",
        "log_checkpoints": "off",
        "log_parameter_max_length": "0",
        "log_line_prefix": "%m [%p] ",
        "log_timezone": "UTC",
    }


def _between(lowest: int, value: int, highest: int) -> int:
    return max(lowest, min(value, highest))


_START_SECONDS = 60
_STOP_SECONDS = 30
_LARGEST_LOG = 8 << 20


class Server:
    """A cluster and, while it runs, its server process. The caller holds the lock of the data folder."""

    def __init__(self, data_dir: Path, postgres_dir: Path | None = None, connections: int = 200) -> None:
        self.location = make_location(data_dir, postgres_dir)
        self.url = self.location.url
        self._connections = connections
        self._programs = programs(self.location.user)
        self._process: subprocess.Popen[bytes] | None = None
        self._log_began = 0

    def start(self) -> None:
        """Create the cluster if needed, start the server and wait until it answers. Raise
        ``DomainError("postgres", …)`` with the last lines of its log when it does not within 60 s."""
        self.launch()
        self.wait()

    def launch(self) -> None:
        """Start the server without waiting for it. To be called from a thread that lasts: the kernel stops the server
        when the thread that launched it ends."""
        cluster.ensure(self.location, self._programs)
        self._stop_leftover()
        self.trim_log()
        settings = tuning(self.location.sockets, self._connections)
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with self.location.log.open("ab") as log:
            self._log_began = log.tell()
            self._process = subprocess.Popen(  # noqa: S603
                [self._programs / "postgres", "-D", self.location.cluster, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.location.home,
                start_new_session=True,  # Ctrl-C goes to the supervisor, which stops the server last
                preexec_fn=partial(follow_parent, os.getpid(), signal.SIGINT),  # noqa: PLW1509  one system call
                **cluster.credentials(self.location),
            )

    def wait(self) -> None:
        """Wait until the launched server answers, and create the database if it is missing."""
        deadline = time.monotonic() + _START_SECONDS
        maintenance = self.url.removesuffix("/paraph") + "/postgres"
        while True:
            try:
                with psycopg.connect(maintenance, autocommit=True) as connection:
                    if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'paraph'").fetchone():
                        connection.execute("CREATE DATABASE paraph")
                return
            except psycopg.OperationalError as error:
                if self.poll() is not None or time.monotonic() > deadline:
                    raise DomainError("postgres", f"PostgreSQL did not start: {self.last_words()}") from error
                time.sleep(0.02)

    def stop(self) -> None:
        """Ask for a fast shutdown. After 30 s the server is forced to end, and recovers at its next start."""
        if not self._process or self._process.poll() is not None:
            return
        for number, patience in ((signal.SIGINT, _STOP_SECONDS), (signal.SIGQUIT, 5), (signal.SIGKILL, None)):
            self._process.send_signal(number)
            try:
                self._process.wait(patience)
                return
            except subprocess.TimeoutExpired:
                continue

    def poll(self) -> int | None:
        """Return the exit status of the server; None while it runs or before it was launched."""
        return self._process.poll() if self._process else None

    def trim_log(self) -> None:
        """Empty the log once it exceeds 8 MiB. The server appends to it, so this is safe at any time."""
        if self.location.log.exists() and self.location.log.stat().st_size > _LARGEST_LOG:
            os.truncate(self.location.log, 0)

    def last_words(self) -> str:
        """Return the last five lines of the log since the launch, or "" when it cannot be read."""
        try:
            with self.location.log.open("rb") as log:
                log.seek(self._log_began)
                return " / ".join(log.read().decode(errors="replace").splitlines()[-5:])
        except OSError:
            return ""

    def _stop_leftover(self) -> None:
        """Stop the server that a killed supervisor left behind. The lock of the data folder says that nobody uses
        it."""
        if self._leftover() is None:
            return
        stop: list[str | Path] = [self._programs / "pg_ctl", "stop", "-w", "-m", "fast", "-D", self.location.cluster]
        try:
            cluster.run(self.location, stop)
        except DomainError:
            if self._leftover() is not None:
                raise

    def _leftover(self) -> int | None:
        """Return the process id in the cluster's lock file, if that process is a server of this cluster. After a power
        cut the id may be any other process's, which ``pg_ctl`` would stop all the same."""
        try:
            pid = int((self.location.cluster / "postmaster.pid").read_text().split(maxsplit=1)[0])
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError, IndexError):
            return None
        return pid if os.fsencode(self.location.cluster) in command else None


_STEADY_SECONDS = 5
_FIRST_DELAY, _LONGEST_DELAY = 0.1, 10.0


class Keeper:
    """Watch a server that was started before. A server that ran for 5 s is launched again at once, any other after a
    delay that grows to 10 s, since it may be killed during recovery or find the disk full. ``say`` gets warnings."""

    def __init__(self, server: Server, say: Callable[[str], object]) -> None:
        self._server = server
        self._say = say
        self._launched = 0.0
        self._failures = 0
        self._due: float | None = None

    def look(self) -> None:
        """Launch the server if it has ended and its delay is over. Never waits; call it repeatedly, from the thread
        that started the server."""
        now = time.monotonic()
        if self._server.poll() is None:
            self._server.trim_log()
        elif self._due is None:
            self._failures = 0 if now - self._launched > _STEADY_SECONDS else self._failures + 1
            delay = min(_FIRST_DELAY * 2**self._failures, _LONGEST_DELAY) if self._failures else 0
            self._due = now + delay
            words = f" The last it said: {self._server.last_words()}" if self._failures else ""
            self._say(f"PostgreSQL ended; starting it again{f' in {delay:.1f} s' if delay else ''}.{words}")
        if self._due is not None and now >= self._due:
            self._due, self._launched = None, now
            self._launch()

    def _launch(self) -> None:
        try:
            self._server.launch()
        except (DomainError, OSError) as error:
            self._say(f"PostgreSQL could not be started: {error}")
