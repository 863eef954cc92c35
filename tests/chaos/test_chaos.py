"""The short form of ``make chaos``: killed processes and failing surroundings, each twice, with and without a
supervisor; a standby that takes over; two hosts behind a balancer; a service that hangs up."""

import shutil
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lab.chaos import hostile
from lab.chaos.apart import apart
from lab.chaos.failover import SCENARIOS, place
from lab.chaos.hostile import LateError, Punctual, unanswered
from lab.chaos.run import Make, chaos
from lab.chaos.supervised import supervised
from lab.hosts.network import refusal

_KINDS = {
    supervised: {
        "paraph-web",
        "paraph-worker",
        "postgres",
        "fast restart of the database",
        "immediate restart of the database",
    },
    apart: {f"{mode} restart of the database" for mode in ("fast", "immediate", "smart")},
}
_SURROUNDINGS = {"mail server", "timestamp authority", "receiver", "object store", "full disk"}


@pytest.mark.thorough
@pytest.mark.parametrize(("make", "requests", "faults"), [(supervised, 24, 23), (apart, 24, 16)])
def test_nothing_is_lost_and_nothing_done_twice(
    tmp_path: Path, make: Make, requests: int, faults: int, capsys: pytest.CaptureFixture[str]
) -> None:
    report = chaos(tmp_path, make, seed=11, requests=requests, least_faults=faults, seconds=400, pause=0.5, storm=270)
    assert report.problems == []
    assert report.faults.total() >= faults
    could = _SURROUNDINGS - ({"full disk"} if "no full disk" in capsys.readouterr().out else set())
    assert set(report.faults) == _KINDS[make] | could  # type: ignore[index]


@pytest.mark.thorough
@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_is_lost_in_step_and_no_number_given_out_twice(name: str, tmp_path: Path) -> None:
    with place(tmp_path) as here:
        SCENARIOS[name](here)


@pytest.mark.thorough
def test_a_host_is_rolled_unplugged_killed_and_nothing_is_lost() -> None:
    for program, package in {"haproxy": "haproxy", "ip": "iproute2", "nsenter": "util-linux"}.items():
        if not shutil.which(program):
            pytest.skip(f"{program} is missing: apt-get install {package}")
    if forbidden := refusal():
        pytest.skip(forbidden)
    command = [sys.executable, "-m", "lab.hosts.run", "--short", "--flows", "12"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("lost or done twice: nothing\n")


@pytest.fixture
def hanging_up() -> Iterator[str]:
    """Yield the address of a service that accepts connections and closes them."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for _ in range(2):
                server.accept()[0].close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join()


def test_a_hang_up_is_the_service_s_fault_but_where_the_head_was_late(
    hanging_up: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with httpx.Client(transport=Punctual()) as client:
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)) as on_time:
            client.post(hanging_up, content=b"body")
        monkeypatch.setattr(hostile, "_HEAD_SECONDS", 0)  # every request counts as late
        with pytest.raises(LateError):
            client.post(hanging_up, content=b"body")
    counts = Counter({"200": 3, type(on_time.value).__name__: 1})
    assert list(unanswered({"verdicts": counts})) == [
        f"Some of the verdicts got no answer: {{'{on_time.typename}': 1}}."
    ]
    assert list(unanswered({"verdicts": Counter({"200": 3, "503": 9, "LateError": 2, "done": 1})})) == []
