"""``paraph worker --metrics-port``: what workers on machines of their own count is told there."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from paraph.cli.worker import serve_metrics
from paraph.kernel.errors import DomainError
from paraph.metrics import metrics
from tests.cli.service import free_port, small_service, status, wait_until

pytestmark = pytest.mark.thorough


@pytest.fixture(params=["", "open sesame"], ids=["without a token", "with a token"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The address, and the token that opens it."""
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
