"""The attacks on connections once more, through each proxy that docs/proxies.md configures."""

import shutil
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.attacks.conftest import Target
from tests.attacks.front import HOST, PAGE, PROGRAMS, Front, documented, started
from tests.attacks.large import large_file, may_open
from tests.factories import pdf
from tests.scenarios.people import at, signer

pytestmark = pytest.mark.thorough

CLIENT, ATTACKER = "127.0.0.2", "127.0.0.3"
FORGED = "198.51.100.66"
LAST = {f"Z-{number}": "z" for number in range(3)}  # the server changes the order of what comes last
SILENT, READERS = 2000, 20
_FRONTS = [PROGRAMS[0], *(pytest.param(program, marks=pytest.mark.thorough) for program in PROGRAMS[1:])]


@pytest.fixture(scope="module")
def proxied(new_target: Callable[..., Target]) -> Target:
    return new_target(PARAPH_BASE_URL=f"https://{HOST}", PARAPH_TRUSTED_PROXIES="127.0.0.1")


@pytest.fixture(scope="module")
def file(proxied: Target) -> str:
    return large_file(proxied)


@pytest.fixture(scope="module", params=_FRONTS)
def front(request: pytest.FixtureRequest, proxied: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    with started(request.param, tmp_path_factory.mktemp(request.param), proxied.port) as found:
        yield found


def test_the_proxy_of_the_compose_file_is_the_documented_one() -> None:
    kept = Path(__file__).parents[2] / "deploy" / "Caddyfile"
    assert kept.read_text() == documented("caddyfile", {}) and "deploy/Caddyfile" in PAGE


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X_Forwarded_For", "x-forwarded_for", "Forwarded", "X-Real-IP"])
def test_the_journal_knows_who_called_whatever_they_say(proxied: Target, front: Front, name: str) -> None:
    with front.client(CLIENT) as client:
        headers = {"X-Api-Key": proxied.key, name: f"for={FORGED}" if name == "Forwarded" else FORGED, **LAST}
        answer = client.post("/api/v1/signature_requests", json={"signature_request": fields(proxied)}, headers=headers)
        if "_" in name and answer.status_code == 400:
            return  # refused by the proxy
        assert answer.status_code == 201, answer.text
    entries = proxied.backend().journal(answer.json()["id"])
    assert {entry["ip"] for entry in entries if entry["ip"]} == {CLIENT}


def fields(target: Target) -> dict[str, Any]:
    stamped = [{"signer_ref": "ada", "stamps": [at()]}]
    documents = [{"id": target.backend().upload(pdf()), "signers": stamped}]
    return {"mode": "parallel", "validity_days": 1, "signers": [signer("ada")], "documents": documents}


def test_no_header_with_an_underscore_arrives(proxied: Target, front: Front) -> None:
    headers = {"Paraph_Check": "1"}
    assert httpx.get(f"{proxied.base_url}/healthz", headers=headers).json()["error"]["code"] == "bad_request"
    with front.client(CLIENT) as client:
        assert "bad_request" not in client.get("/healthz", headers=headers).text


def test_silent_connections_keep_nobody_out(proxied: Target, front: Front) -> None:
    with may_open(SILENT + 500):
        silent = [_quietly(front) for _ in range(SILENT)]
        assert seconds_of_calls(proxied, front) < 5
        for connection in silent:
            connection.close()


def _quietly(front: Front) -> socket.socket:
    try:
        return front.connect(ATTACKER)
    except OSError:  # it had enough already
        return socket.socket()


def test_slow_readers_hold_up_nobody(proxied: Target, front: Front, file: str) -> None:
    readers = [ask(front, file) for _ in range(READERS)]
    assert seconds_of_calls(proxied, front) < 5
    for reader in readers:
        reader.close()


def ask(front: Front, file: str) -> socket.socket:
    parts = urlsplit(file)
    client = front.trust.wrap_socket(front.connect(ATTACKER, buffer=4096), server_hostname="localhost")
    client.sendall(f"GET {parts.path}?{parts.query} HTTP/1.1\r\nHost: localhost:{front.port}\r\n\r\n".encode())
    return client


def seconds_of_calls(target: Target, front: Front) -> float:
    """The longest of some in the seconds to come."""
    longest, end = 0.0, time.monotonic() + 1.5
    while time.monotonic() < end:
        began = time.monotonic()
        with front.client(CLIENT) as client:  # each time over a new connection
            assert client.get("/healthz").status_code == 200
            assert client.get("/api/v1/documents", headers={"X-Api-Key": target.key}).status_code == 200
        longest = max(longest, time.monotonic() - began)
        time.sleep(0.1)
    return longest
