"""A database server that is killed again and again comes back, with what was committed."""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from paraph.postgres import Keeper, Server
from paraph.postgres import server as embedded


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data_dir = tmp_path_factory.mktemp("kept") / "data"
    server = Server(data_dir)
    server.start()
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT generate_series(1, 1000) AS value")
    yield server
    server.stop()
    shutil.rmtree((data_dir / "postgres").resolve(), ignore_errors=True)  # elsewhere for root


def until(holds: Callable[[], bool], keeper: Keeper, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        keeper.look()
        time.sleep(0.05)


def answers(server: Server) -> bool:
    try:
        with psycopg.connect(server.url) as connection:
            return connection.execute("SELECT count(*) FROM kept").fetchone() == (1000,)
    except psycopg.OperationalError:
        return False


def kill(server: Server) -> None:
    assert server._process
    server._process.send_signal(signal.SIGKILL)
    server._process.wait()


@pytest.mark.thorough
def test_it_is_launched_again_though_it_dies_while_it_recovers(server: Server) -> None:
    said: list[str] = []
    keeper = Keeper(server, said.append)
    keeper._launched = time.monotonic() - 60
    for _ in range(4):
        kill(server)
        until(lambda: server.poll() is None, keeper)
    until(lambda: answers(server), keeper)
    assert said[0] == "PostgreSQL ended; starting it again."
    # At least four: a new PostgreSQL ends by itself while processes of the killed one still hold its memory.
    assert len(said) >= 4
    for failures, words in enumerate(said[1:], start=1):
        assert f"starting it again in {0.1 * 2**failures:.1f} s" in words


@pytest.mark.thorough
def test_it_is_tried_until_it_can_be_started(server: Server) -> None:
    """A start may fail for a while, as with a full disk."""
    said: list[str] = []
    keeper = Keeper(server, said.append)
    log = server.location.log
    kill(server)
    log.unlink()
    log.mkdir()  # no log can be opened
    until(lambda: sum("could not be started" in words for words in said) >= 2, keeper)
    assert server.poll() is not None
    log.rmdir()
    until(lambda: answers(server), keeper)


def test_looking_costs_nothing_while_it_runs(server: Server) -> None:
    said: list[str] = []
    keeper = Keeper(server, said.append)
    before = time.process_time()
    for _ in range(100):
        keeper.look()
    assert said == [] and time.process_time() - before < 1


def test_one_that_has_failed_for_hours_is_still_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(embedded, "time", SimpleNamespace(monotonic=lambda: now))
    server = Server(tmp_path / "data")
    server.location.cluster.mkdir()
    (server.location.cluster / "somebody.txt").touch()  # no cluster can be made in a folder with a file
    server._process = subprocess.Popen(["true"])
    server._process.wait()
    said: list[str] = []
    keeper = Keeper(server, said.append)
    try:
        while now < 4 * 3600:
            now += 1
            keeper.look()
    finally:
        shutil.rmtree(server.location.home)
    last = " ".join(said[-2:])
    assert "starting it again in 10.0 s" in last and "could not be started" in last
