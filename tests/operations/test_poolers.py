"""A pooler between the service and its database: one that keeps sessions serves, any other is refused in a sentence."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from paraph.database.sessions import UNKEPT, keeps_sessions
from paraph.postgres.cluster import credentials
from tests.cli.service import free_port
from tests.operations.apart import Database, Parts

pytestmark = pytest.mark.skipif(not shutil.which("pgbouncer"), reason="needs pgbouncer (apt-get install pgbouncer)")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    made = Database(tmp_path_factory.mktemp("pooled"))
    yield made
    made.remove()


@pytest.fixture
def pooled(database: Database, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Starts PgBouncer in a mode; returns the address of the database behind it."""
    running: list[subprocess.Popen[bytes]] = []

    def start(mode: str) -> str:
        location, port = database.location, free_port()
        settings = location.home / f"{mode}.ini"
        settings.write_text(
            f"[databases]\nparaph = host={location.sockets} user=paraph\n[pgbouncer]\npool_mode = {mode}\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        )
        settings.chmod(0o644)
        with (tmp_path / "pgbouncer.log").open("wb") as log:
            running.append(subprocess.Popen(["pgbouncer", settings], stderr=log, **credentials(location)))
        url = f"postgresql://paraph@127.0.0.1:{port}/paraph"
        wait_for(url)
        return url

    yield start
    for process in running:
        process.terminate()
        process.wait()


def test_sessions_are_told_from_shared_ones(database: Database, pooled: Callable[[str], str]) -> None:
    assert keeps_sessions(database.url)
    assert keeps_sessions(pooled("session"))
    assert not keeps_sessions(pooled("transaction"))
    assert not keeps_sessions(pooled("statement"))


@pytest.mark.thorough
def test_a_pooler_that_shares_them_is_refused(database: Database, pooled: Callable[[str], str], tmp_path: Path) -> None:
    parts = Parts(tmp_path, database.url)
    shared = pooled("transaction")
    refused = parts.start("migrate", DATABASE_URL=shared)
    assert (refused.wait(60), parts.log("migrate")) == (1, f"{UNKEPT}\n")
    parts.service.command("migrate")
    refused = parts.start("worker", DATABASE_URL=shared)
    assert refused.wait(60) == 1
    assert parts.log("worker").splitlines()[-1] == UNKEPT


def wait_for(url: str) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
