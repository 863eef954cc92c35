"""Clients that ask for a large file and stop reading it, or hardly read it, against everybody else."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.attacks.conftest import Target
from tests.attacks.large import LARGE, large_file

pytestmark = pytest.mark.thorough

MIB = 1 << 20
READERS = 20
PHONE = 64 * 1024  # bytes a second


@pytest.fixture(scope="module")
def target(new_target: Callable[..., Target]) -> Target:
    """One of its own, whose processes have needed no memory for anything else."""
    return new_target()


@pytest.fixture(scope="module")
def file(target: Target) -> str:
    return large_file(target)


@pytest.fixture
def stalled(target: Target, file: str) -> Iterator[list[socket.socket]]:
    clients = [ask(target, file) for _ in range(READERS)]
    yield clients
    for client in clients:
        client.close()


def ask(target: Target, file: str) -> socket.socket:
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(30)
    client.connect(("127.0.0.1", target.port))
    parts = urlsplit(file)
    client.sendall(f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return client


def test_who_stops_reading_holds_up_nobody(target: Target, file: str, stalled: list[socket.socket]) -> None:
    waits = []
    for _ in range(20):
        began = time.monotonic()
        assert httpx.get(f"{target.base_url}/healthz", timeout=30).status_code == 200
        assert target.backend().call("GET", "documents").status_code == 200
        waits.append(time.monotonic() - began)
        time.sleep(0.1)
    assert max(waits) < 3
    assert largest_process(target) < 700 * MIB
    assert len(downloaded(file)) > LARGE, "and downloads come by their turn again"


def test_who_reads_slowly_gets_the_file(target: Target, file: str) -> None:
    """A phone, while others stop reading: it is not taken for one of them."""
    phone, received = ask(target, file), 0
    others: list[socket.socket] = []
    end = time.monotonic() + 6
    while time.monotonic() < end:
        received += len(phone.recv(PHONE // 10))
        if not others:
            others = [ask(target, file) for _ in range(READERS)]
        time.sleep(0.1)
    while block := phone.recv(MIB):
        received += len(block)
        if received > LARGE:
            break
    assert received > LARGE
    for client in [phone, *others]:
        client.close()


def downloaded(file: str) -> bytes:
    """As a client does that tries again when it is told to."""
    for _ in range(30):
        answer = httpx.get(file, timeout=30)
        if answer.status_code != 503:
            assert answer.status_code == 200
            return answer.content
        assert answer.json()["error"]["code"] == "unavailable"
        time.sleep(int(answer.headers["Retry-After"]))
    raise AssertionError("it was never its turn")


def largest_process(target: Target) -> int:
    """Bytes of memory at most in use by one of its processes."""
    sizes = []
    for number in target.processes():
        lines = Path(f"/proc/{number}/status").read_text().splitlines()
        sizes += [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")]
    return max(sizes)
