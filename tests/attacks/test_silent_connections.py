"""Thousands of connections that say nothing, or begin a question and never end it."""

import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from paraph.server.silent_connections import PER_ADDRESS
from tests.attacks.conftest import Target
from tests.attacks.large import may_open

MANY = 2000


@pytest.fixture(autouse=True)
def files() -> Iterator[None]:
    """As many as this process needs for its side of them."""
    with may_open(MANY + 500):
        yield


@pytest.mark.parametrize("beginning", [b"", b"GET /healthz HTTP/1.1\r\nHost: loc"], ids=["nothing", "half a question"])
def test_newcomers_are_answered(target: Target, beginning: bytes) -> None:
    silent = [connect(target, beginning) for _ in range(MANY)]
    waits = []
    for _ in range(5):
        began = time.monotonic()
        assert httpx.get(f"{target.base_url}/healthz", timeout=60).status_code == 200
        assert target.backend().call("GET", "documents").status_code == 200
        waits.append(time.monotonic() - began)
    assert max(waits) < 5
    deadline = time.monotonic() + 20
    while sum(not ended(client) for client in silent) > PER_ADDRESS:
        assert time.monotonic() < deadline, "they are still there"
        time.sleep(0.5)
    for client in silent:
        client.close()


def connect(target: Target, beginning: bytes) -> socket.socket:
    client = socket.create_connection(("127.0.0.1", target.port), timeout=30)
    client.sendall(beginning)
    client.setblocking(False)
    return client


def ended(client: socket.socket) -> bool:
    try:
        return client.recv(1000) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_who_asks_again_and_again_is_left_alone(target: Target) -> None:
    """However many connections it has."""
    with httpx.Client(base_url=target.base_url, timeout=60, limits=httpx.Limits(max_connections=200)) as client:
        end = time.monotonic() + 3
        while time.monotonic() < end:
            assert client.get("/healthz").status_code == 200
