"""``paraph serve``: one command starts everything, keeps it running and stops it."""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from paraph.cli.worker import serve_metrics
from paraph.kernel.errors import DomainError
from paraph.metrics import metrics
from paraph.postgres import embedded_url
from tests import first_start
from tests.cli.service import Service, free_port, name_of, paraph, processes_of, status, wait_until
from tests.operations.apart import Database, Parts

NewService = Callable[..., Service]

_ONE_IMPORT = "from paraph.cli import serve; serve.set_up(tasks=True)"


def test_first_start_second_start_and_stop(new_service: NewService) -> None:
    """The first start is that of the run, which had to stop without leaving a process (tests/first_start.py)."""
    said = first_start.said()
    key = re.search(r"^ +([0-9a-f]{64})$", said, re.MULTILINE)
    assert key, said
    curl = re.search(r"^ +(curl .*)http://localhost:\d+(/.*)$", said, re.MULTILINE)
    assert curl, said
    link = re.search(r"^ +http://localhost:\d+(/account/first/.*)$", said, re.MULTILINE)
    assert link, said

    service = new_service()
    first_start.copy(service.data_dir)
    before = processor_seconds()
    service.start()
    assert "Welcome to Paraph" in httpx.get(service.base_url + link[1]).text
    pasted = f"{curl[1]}{service.base_url}{curl[2]} -sS --fail"
    answer = subprocess.run(["sh", "-c", pasted], capture_output=True, text=True, check=True)
    assert '"sandbox"' in answer.stdout
    assert service.stop(signal.SIGINT) == 0
    used = processor_seconds() - before
    before = processor_seconds()
    subprocess.run([sys.executable, "-c", _ONE_IMPORT], env=service.environment, check=True)
    assert used < 3 * (processor_seconds() - before)  # a second start costs one import; the rest are its processes
    assert not re.search(r"[0-9a-f]{64}", "".join(service.output))  # the key is shown once
    assert service.processes() == {}


@pytest.mark.thorough
def test_the_way_back_from_the_next_version(new_service: NewService) -> None:
    service = new_service()
    service.begin()
    with psycopg.connect(embedded_url(service.data_dir, None), autocommit=True) as connection:
        connection.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('journal', '9999_later', now())")
    assert service.command("migrate", "--newer-tables") == {"applied": 0}
    assert service.stop() == 0
    with pytest.raises(AssertionError, match="belongs to a newer Paraph"):
        service.start()
    service.start("--newer-tables")
    assert httpx.get(f"{service.base_url}/readyz").json()["ready"] is True
    assert service.stop() == 0


def test_what_keeps_it_from_starting_is_one_sentence_and_nothing_stays(service: Service, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert service.process
    for data_dir, port, sentence in (
        (service.data_dir, 1, f"Paraph already runs on {service.data_dir} (process {service.process.pid})."),
        (tmp_path, service.port, f"Paraph cannot listen on 127.0.0.1 port {service.port}: Address already in use."),
        (tmp_path / "file/data", 1, f"The data folder {tmp_path}/file/data cannot be written: Not a directory."),
    ):
        done = paraph("serve", "--port", str(port), data_dir=data_dir)
        assert (done.returncode, done.stderr) == (1, f"{sentence}\n")
    assert processes_of(tmp_path) == {}


@pytest.mark.thorough
def test_children_that_die_are_started_again(new_service: NewService) -> None:
    service = new_service()
    service.start()
    before = named(service)
    assert set(before) >= {"paraph-web", "paraph-worker", "postgres"}
    for name in ("paraph-worker", "paraph-web", "postgres"):
        os.kill(before[name], signal.SIGKILL)
        wait_until(lambda name=name: named(service).get(name, before[name]) != before[name])  # type: ignore[misc]
        wait_until(lambda: status(f"{service.base_url}/healthz") == 200)
    wait_until(lambda: set(named(service)) >= set(before))
    assert service.stop() == 0
    assert service.processes() == {}
    greeted = "".join(service.output).partition("/account/first/")[2].partition("\n")[2]
    said = greeted.replace("Paraph is stopping.\n", "")
    events = [json.loads(line)["event"] for line in said.splitlines() if line.strip()]  # JSON, whoever speaks
    assert {"a child process ended", "PostgreSQL ended; starting it again."} <= set(events)


@pytest.mark.thorough
def test_nothing_outlives_a_killed_supervisor_and_the_next_start_works(new_service: NewService) -> None:
    service = new_service()
    service.begin()
    service.stop(signal.SIGKILL)
    wait_until(lambda: service.processes() == {})
    service.start()
    health = httpx.get(f"{service.base_url}/api/v1/health", headers={"X-Api-Key": service.key})
    assert health.status_code == 200


@pytest.mark.thorough
def test_a_leftover_database_server_is_taken_over(new_service: NewService) -> None:
    service = new_service()
    service.begin()
    postgres = named(service)["postgres"]
    os.kill(postgres, signal.SIGSTOP)  # so that it cannot follow its supervisor at once
    service.stop(signal.SIGKILL)
    os.kill(postgres, signal.SIGCONT)
    service.start()
    assert named(service)["postgres"] != postgres


@pytest.mark.parametrize("command", ["serve", "web"])
def test_a_public_address_without_a_proxy_does_not_start_and_says_what_to_do(command: str, tmp_path: Path) -> None:
    done = paraph(command, data_dir=tmp_path / "data", PARAPH_BASE_URL="https://sign.example.com")
    assert done.returncode == 1
    for word in ("https://sign.example.com", "docs/proxies.md", "PARAPH_TRUSTED_PROXIES=127.0.0.1"):
        assert word in done.stderr


def named(service: Service) -> dict[str, int]:
    """One process of each name: the web server's and the database's own children are left out."""
    return {name_of(pid): pid for pid in sorted(service.processes(), reverse=True)}


def processor_seconds() -> float:
    """The processor time of ended children, which unlike the clock does not depend on what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.thorough
def test_the_parts_work_together(tmp_path: Path) -> None:
    database = Database(tmp_path / "database")
    parts = Parts(tmp_path, database.url)
    try:
        assert [parts.start("migrate", "--json").wait(), parts.start("migrate").wait()] == [0, 0]
        told = [json.loads(line)["event"] for line in parts.log("migrate").splitlines() if "event" in line]
        assert told == ["migrations are done"], "one line, however many tables there are"
        assert not (parts.service.data_dir / "postgres").exists()

        port = str(free_port())
        parts.start("web")
        parts.start("worker", "--metrics-port", port)
        wait_until(lambda: status(f"{parts.url}/healthz") == 200)
        with psycopg.connect(database.url, autocommit=True) as connection:
            connection.execute(
                "INSERT INTO procrastinate_jobs (queue_name, task_name, args) "
                """VALUES ('default', 'paraph.flow.jobs.finalize', '{"request_document_id": 0}')"""
            )
            wait_until(lambda: not connection.execute(UNTOUCHED).fetchall())
        assert "paraph_build_info" in httpx.get(f"http://127.0.0.1:{port}/metrics").text
        for command in ("web", "worker"):
            assert parts.end(command)[0] == 0
            [line] = [json.loads(line) for line in parts.log(command).splitlines() if '"Paraph starts"' in line]
            assert (line["command"], line["settings"]["DATABASE_URL"]) == (command, "set")
    finally:
        parts.remove()
        database.remove()


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
