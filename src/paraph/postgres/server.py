"""The embedded server: sized, started, watched, restarted and stopped."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import psycopg

from paraph.kernel import machine
from paraph.kernel.errors import DomainError
from paraph.kernel.machine import follow_parent
from paraph.postgres import cluster
from paraph.postgres.cluster import make_location, programs


def tuning(sockets: Path, connections: int) -> dict[str, str]:
    """Return the settings that differ from PostgreSQL's defaults. ``connections``: the maximum."""
    memory = machine.memory_bytes() >> 20
    return {
        "listen_addresses": "",  # connections come through the socket only
        "unix_socket_directories": str(sockets),
        "unix_socket_permissions": "0700",
        "max_connections": str(connections),
        "shared_buffers": f"{min(max(64, memory // 8), 1024)}MB",
        "effective_cache_size": f"{max(memory // 2, 128)}MB",
        "maintenance_work_mem": f"{min(max(32, memory // 32), 512)}MB",
        "work_mem": "8MB",
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
        while True:
            try:
                with psycopg.connect(self.url, dbname="postgres", autocommit=True) as connection:
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
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
                return

    def poll(self) -> int | None:
        """Return the exit status of the server; None while it runs or before it was launched."""
        return self._process.poll() if self._process else None

    def trim_log(self) -> None:
        """Empty the log once it exceeds 8 MiB. The server appends to it, so this is safe at any time."""
        if self.location.log.exists() and self.location.log.stat().st_size > _LARGEST_LOG:
            os.truncate(self.location.log, 0)

    def last_words(self) -> str:
        """Return the last five lines of the log since the launch, or "" when it cannot be read."""
        with suppress(OSError), self.location.log.open("rb") as log:
            log.seek(self._log_began)
            return " / ".join(log.read().decode(errors="replace").splitlines()[-5:])
        return ""

    def _stop_leftover(self) -> None:
        """Stop the server that a killed supervisor left behind. The lock of the data folder says that nobody uses
        the server."""
        if not self._has_leftover():
            return
        stop: list[str | Path] = [self._programs / "pg_ctl", "stop", "-w", "-m", "fast", "-D", self.location.cluster]
        try:
            cluster.run(self.location, stop)
        except DomainError:
            if self._has_leftover():
                raise

    def _has_leftover(self) -> bool:
        """Return whether the process that the cluster's lock file names is a server of this cluster. After a power cut
        the id may be any other process's, which ``pg_ctl`` would stop all the same."""
        try:
            pid = int((self.location.cluster / "postmaster.pid").read_text().split(maxsplit=1)[0])
            return os.fsencode(self.location.cluster) in Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError, IndexError):
            return False


_STEADY_SECONDS = 5
_FIRST_DELAY, _LONGEST_DELAY = 0.2, 10.0


class Keeper:
    """Watch a server that was started before. A server that ran for 5 s is launched again at once, any other after a
    delay that grows to 10 s, since it may be killed during recovery or find the disk full. ``say`` gets warnings."""

    def __init__(self, server: Server, say: Callable[[str], object]) -> None:
        self._server, self._say = server, say
        self._launched = self._delay = 0.0
        self._due: float | None = None

    def look(self) -> None:
        """Launch the server if it has ended and its delay is over. Never waits; call it repeatedly, from the thread
        that started the server."""
        now = time.monotonic()
        if self._server.poll() is None:
            self._server.trim_log()
        elif self._due is None:
            was_steady = now - self._launched > _STEADY_SECONDS
            self._delay = 0.0 if was_steady else min(max(2 * self._delay, _FIRST_DELAY), _LONGEST_DELAY)
            self._due = now + self._delay
            again = f" in {self._delay:.1f} s. The last it said: {self._server.last_words()}" if self._delay else "."
            self._say(f"PostgreSQL ended; starting it again{again}")
        if self._due is not None and now >= self._due:
            self._due, self._launched = None, now
            try:
                self._server.launch()
            except (DomainError, OSError) as error:
                self._say(f"PostgreSQL could not be started: {error}")
