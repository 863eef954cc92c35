"""``paraph migrate``, ``web`` and ``worker``, run apart on a database of the operator's own; and the figures that a
worker on a machine of its own serves on ``--metrics-port``."""

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from paraph.cli.worker import serve_metrics
from paraph.kernel.errors import DomainError
from paraph.metrics import metrics
from paraph.postgres import Server
from tests.cli.service import clean_environment, free_port, remove, small_service, status, wait_until

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("parts")
    server = Server(folder / "database", connections=60)
    server.start()
    few = {"PARAPH_PORT": str(free_port()), "PARAPH_WEB_PROCESSES": "1"}
    yield clean_environment(folder / "data", DATABASE_URL=server.url, **few)
    server.stop()
    remove(folder / "database")


def paraph(environment: dict[str, str], *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "paraph", *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def test_the_parts_work_together(environment: dict[str, str]) -> None:
    for is_first in (True, False):
        migrate = paraph(environment, "migrate", "--json")
        told = [json.loads(line)["event"] for line in migrate.communicate()[1].splitlines()]
        assert migrate.returncode == 0
        assert told == (["migrations are done"] if is_first else []), "one line, however many tables there are"
    assert not (Path(environment["PARAPH_DATA_DIR"]) / "postgres").exists()

    web, worker = paraph(environment, "web"), paraph(environment, "worker")
    health = f"http://127.0.0.1:{environment['PARAPH_PORT']}/healthz"
    wait_until(lambda: status(health) == 200)
    with psycopg.connect(environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(
            "INSERT INTO procrastinate_jobs (queue_name, task_name, args) "
            """VALUES ('default', 'paraph.flow.jobs.finalize', '{"request_document_id": 0}')"""
        )
        wait_until(lambda: not connection.execute(UNTOUCHED).fetchall())
    for process, command in ((web, "web"), (worker, "worker")):
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 0
        [line] = [json.loads(line) for line in said.splitlines() if '"Paraph starts"' in line]
        assert (line["command"], line["settings"]["DATABASE_URL"]) == (command, "set")


def test_a_database_ahead_of_the_code_is_refused(environment: dict[str, str]) -> None:
    paraph(environment, "migrate").communicate()
    with psycopg.connect(environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('journal', '9999_later', now())")
        refused = paraph(environment, "migrate")
        assert refused.communicate()[1] == "The database belongs to a newer Paraph: it has journal.9999_later.\n"
        assert refused.returncode == 1
        way_back = paraph(environment, "migrate", "--newer-tables")
        assert "going on with the tables of a newer version" in way_back.communicate()[1]
        assert way_back.returncode == 0
        # Tables that lack a migration of this version are not those of a newer one.
        lost = "app = 'webhooks' AND name = '0001_initial'"
        connection.execute(f"UPDATE django_migrations SET app = 'kept' WHERE {lost}")
        refused = paraph(environment, "migrate", "--newer-tables")
        assert "belongs to a newer Paraph" in refused.communicate()[1] and refused.returncode == 1
        connection.execute("UPDATE django_migrations SET app = 'webhooks' WHERE app = 'kept'")
        connection.execute("DELETE FROM django_migrations WHERE name = '9999_later'")


UNTOUCHED = (
    "SELECT 1 FROM procrastinate_jobs "
    "WHERE task_name = 'paraph.flow.jobs.finalize' AND attempts = 0 AND status IN ('todo', 'doing')"
)


@pytest.fixture(params=["", "open sesame"], ids=["without a token", "with a token"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The address of the metrics, and the token that they demand."""
    server = serve_metrics("127.0.0.1", 0, request.param)
    yield f"http://127.0.0.1:{server.server_port}", request.param
    server.shutdown()
    server.server_close()


def test_counts_are_told_to_whoever_may_read_them(served: tuple[str, str]) -> None:
    url, token = served
    metrics.count_job("finalize", "succeeded", 0.1)
    told = httpx.get(f"{url}/metrics", headers={"Authorization": f"Bearer {token}"} if token else {})
    assert told.status_code == 200 and told.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert 'paraph_jobs_run_total{result="succeeded",task="finalize"}' in told.text
    assert "paraph_build_info" in told.text and "paraph_workers" not in told.text
    for wrong in ({}, {"Authorization": "Bearer open sesam"}):
        assert httpx.get(f"{url}/metrics", headers=wrong).status_code == (403 if token else 200)
    assert httpx.get(f"{url}/").status_code == 404


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(DomainError, match=f"cannot listen on 127.0.0.1 port {port}"):
            serve_metrics("127.0.0.1", port, "")


def test_a_worker_tells_until_it_ends(tmp_path_factory: pytest.TempPathFactory) -> None:
    port = str(free_port())
    with small_service(tmp_path_factory.mktemp("told") / "data") as service:
        command = [sys.executable, "-m", "paraph", "worker", "--metrics-port", port]
        with subprocess.Popen(command, env=service.environment, stderr=subprocess.DEVNULL) as worker:
            try:
                wait_until(lambda: status(f"http://127.0.0.1:{port}/metrics") == 200)
                assert "paraph_build_info" in httpx.get(f"http://127.0.0.1:{port}/metrics").text
                worker.send_signal(signal.SIGTERM)
                assert worker.wait(40) == 0
            finally:
                worker.kill()
