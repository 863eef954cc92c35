"""A pooler between the service and its database: one that keeps sessions works, any other is refused in a sentence;
one with too few sessions is reported, and keeps nobody waiting for long."""

import asyncio
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from django.db import OperationalError

from paraph.database import base, connections
from paraph.database.connections import UNKEPT, keeps_sessions
from paraph.database.outage import is_outage
from paraph.operations.check import database as check
from paraph.postgres.cluster import credentials
from paraph.queue.queue_worker import try_connection
from tests.cli.service import free_port, wait_until
from tests.database.test_engine import connected
from tests.docs.blocks import changed
from tests.operations.apart import Database, Parts

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not shutil.which("pgbouncer"), reason="needs pgbouncer (apt-get install pgbouncer)"),
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    made = Database(tmp_path_factory.mktemp("pooled"))
    yield made
    made.remove()


@pytest.fixture
def pooled(database: Database, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Start PgBouncer as docs/operating.md configures it, but with this mode and number of sessions. Return the
    address of the database behind it."""
    running: list[subprocess.Popen[bytes]] = []

    def start(mode: str, size: int = 20, of: Database = database) -> str:
        location, port = of.location, free_port()
        settings = location.home / f"{mode}-{port}.ini"
        changes = {
            "host=db.example.com dbname=paraph": f"host={location.sockets} user=paraph",
            "pool_mode = session": f"pool_mode = {mode}",
            "default_pool_size = 71": f"default_pool_size = {size}",
        }
        settings.write_text(
            changed("docs/operating.md", "[databases]", changes)
            + f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        )
        settings.chmod(0o644)
        with (tmp_path / "pgbouncer.log").open("wb") as log:
            running.append(subprocess.Popen(["pgbouncer", settings], stderr=log, **credentials(location)))
        url = f"postgresql://paraph@127.0.0.1:{port}/paraph"
        wait_until(lambda: answers(url), seconds=30)
        return url

    yield start
    for process in running:
        process.terminate()
        process.wait()


def test_sessions_are_told_from_shared_ones(database: Database, pooled: Callable[..., str]) -> None:
    assert keeps_sessions(database.url)
    assert keeps_sessions(pooled("session"))
    assert not keeps_sessions(pooled("transaction"))
    assert not keeps_sessions(pooled("statement"))


@pytest.mark.thorough
def test_a_pooler_that_shares_them_is_refused(database: Database, pooled: Callable[..., str], tmp_path: Path) -> None:
    parts = Parts(tmp_path, database.url)
    shared = pooled("transaction")
    refused = parts.start("migrate", DATABASE_URL=shared)
    assert (refused.wait(60), parts.log("migrate")) == (1, f"{UNKEPT}\n")
    parts.service.command("migrate")
    refused = parts.start("worker", DATABASE_URL=shared)
    assert (refused.wait(60), parts.log("worker").splitlines()[-1]) == (1, UNKEPT)


def test_who_finds_no_session_free_is_told_so_soon(pooled: Callable[..., str]) -> None:
    url = pooled("session", 1)
    with psycopg.connect(url) as holding:
        holding.execute("SELECT 1")
        waiting = connected(f"{url}?connect_timeout=2")
        began = time.monotonic()
        with pytest.raises(OperationalError, match="no session was free within 2 s") as raised:
            waiting.ensure_connection()
        assert 1.5 < time.monotonic() - began < 60  # PgBouncer itself gives up after 120 s
        assert is_outage(raised.value)
    waiting.ensure_connection()
    waiting.close()


def test_jobs_are_told_so_as_well(pooled: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    url = pooled("session", 1)
    monkeypatch.setattr("paraph.queue.queue_worker.connector_params", lambda: {"conninfo": url})
    monkeypatch.setattr("paraph.queue.queue_worker._CONNECTION_SECONDS", 1.0)
    with psycopg.connect(url) as holding:
        holding.execute("SELECT 1")
        began = time.monotonic()
        with pytest.raises(psycopg.OperationalError):
            asyncio.run(try_connection())
        assert time.monotonic() - began < 60
    asyncio.run(try_connection())


def test_what_rests_is_given_back_to_who_wants_it(pooled: Callable[..., str]) -> None:
    url = pooled("session", 1)
    mine, theirs = connected(url), connected(url)
    process = ask(mine)
    mine.close_if_unusable_or_obsolete()  # as after a request
    assert ask(theirs) == process
    theirs.close_if_unusable_or_obsolete()
    assert connections.give_back(60) == 0
    assert connections.give_back() == 1
    assert ask(mine) == process  # it gets a session again, and nobody notices
    with mine.cursor() as cursor:
        cursor.execute("BEGIN")
        with pytest.raises(OperationalError):
            connected(f"{url}?connect_timeout=2").ensure_connection()  # a session in use is not given back
        cursor.execute("ROLLBACK")
    mine.close()


@pytest.mark.thorough
def test_too_few_sessions_are_counted(
    database: Database, pooled: Callable[..., str], monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"web_processes": 1, "worker_processes": 1, "web_threads": 1})
    needed = 3 + 15 + check.COMMANDS

    def look(url: str) -> tuple[str, str]:
        made = connected(url)
        for asking in (check, base):
            monkeypatch.setattr(asking, "connection", made)
        monkeypatch.setattr(check, "connector_params", lambda: {"conninfo": url})
        outcome = check.connections()
        made.close()
        return outcome.status.value, outcome.sentence

    who = "1 web process and 1 worker"
    status, sentence = look(database.url)
    assert (status, sentence.endswith(f" at once: as many as {who} open.")) == ("ok", True)
    assert look(pooled("session", needed))[0] == "ok"
    status, sentence = look(pooled("session", needed - 1))
    assert status == "warning"
    assert sentence == (
        f"{who} open up to {needed} sessions, and the pooler before the database gives {needed - 1} at once: "
        f"set default_pool_size to {needed} there, or run fewer."
    )
    assert look(pooled("session", 5))[0] == "failed"
    settings.PARAPH = settings.PARAPH.model_copy(update={"web_threads": 50})
    status, sentence = look(database.url)
    assert status != "ok"
    assert sentence.endswith(f": {52 + 20} are needed: raise max_connections, or run fewer.")


@pytest.mark.thorough
def test_a_pool_that_is_too_small_is_no_outage_without_end(pooled: Callable[..., str], tmp_path: Path) -> None:
    database = Database(tmp_path / "database", begun=True)
    parts = Parts(tmp_path, database.url, PARAPH_SECRET_KEY=database.secret, PARAPH_WEB_THREADS="24")
    try:
        url = pooled("session", 20, database)
        parts.start("web", DATABASE_URL=url)
        wait_until(lambda: answer(parts, "readyz")[0] == 200, seconds=120)

        with ThreadPoolExecutor(60) as callers:
            told = list(callers.map(lambda _: answer(parts, CALL, database.key), range(240)))
        assert {status for status, _ in told} <= {200, 503}
        assert max(seconds for _, seconds in told) < 20  # of 60 calls at once, 24 are worked on

        began = time.monotonic()
        with psycopg.connect(url) as other:  # the sessions of the threads are given back soon
            assert other.execute("SELECT 1").fetchone() == (1,)
        assert time.monotonic() - began < 2 * connections.IDLE_SECONDS
        holding = [psycopg.connect(url, autocommit=True) for _ in range(20)]
        for each in holding:
            each.execute("SELECT 1")
        status, seconds = answer(parts, CALL, database.key)
        assert (status, seconds < 7) == (503, True)
        wait_until(lambda: answer(parts, "readyz")[0] == 503, seconds=10)
        for each in holding:
            each.close()
        wait_until(lambda: answer(parts, "readyz")[0] == 200, seconds=30)
        assert answer(parts, CALL, database.key)[0] == 200
    finally:
        parts.remove()
        database.remove()


CALL = "api/v1/signature_requests"


def answer(parts: Parts, path: str, key: str = "") -> tuple[int, float]:
    try:
        found = httpx.get(f"{parts.url}/{path}", headers={"X-Api-Key": key}, timeout=60)
    except httpx.TransportError:
        return 0, 0.0
    return found.status_code, found.elapsed.total_seconds()


def ask(made: Any) -> int:
    with made.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def answers(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True
