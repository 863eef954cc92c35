"""The attacks on connections once more, through each proxy that docs/proxies.md configures."""

import io
import resource
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pikepdf
import pytest

from paraph.kernel import tokens
from tests.attacks.conftest import Target
from tests.attacks.front import HOST, PAGE, PROGRAMS, Front, documented, started
from tests.factories import pdf

pytestmark = pytest.mark.thorough

CLIENT, ATTACKER, ANOTHER, THIRD = "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"
FORGED = "198.51.100.66"
LAST = {f"Z-{number}": "z" for number in range(3)}  # the server changes the order of the last headers
SILENT, SLOW, READERS = 2000, 40, 20
LARGE = 18 << 20
UPLOAD = (
    b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\nContent-Type: application/pdf\r\n\r\n'
)


@pytest.fixture(scope="module")
def proxied(new_target: Callable[..., Target]) -> Target:
    return new_target(PARAPH_BASE_URL=f"https://{HOST}", PARAPH_TRUSTED_PROXIES="127.0.0.1")


@pytest.fixture(scope="module")
def file(proxied: Target) -> str:
    """Return the address at which anybody with the link can download a large document."""
    content, made = pikepdf.open(io.BytesIO(pdf())), io.BytesIO()
    content.attachments["scan.bin"] = tokens.random_bytes(LARGE)
    content.save(made)
    number = proxied.backend().upload(made.getvalue())
    return str(proxied.backend().call("GET", f"documents/{number}").json()["download_url"])


@pytest.fixture(scope="module", params=PROGRAMS)
def front(request: pytest.FixtureRequest, proxied: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    with started(request.param, tmp_path_factory.mktemp(request.param), proxied.port) as found:
        yield found


def test_the_proxy_of_the_compose_file_is_the_documented_one() -> None:
    kept = Path(__file__).parents[2] / "deploy" / "Caddyfile"
    assert kept.read_text() == documented("caddyfile", {}) and "deploy/Caddyfile" in PAGE


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X_Forwarded_For", "x-forwarded_for", "Forwarded", "X-Real-IP"])
def test_the_journal_knows_who_called_whatever_they_say(proxied: Target, front: Front, name: str) -> None:
    with front.client(CLIENT) as client:
        headers = {"X-Api-Key": proxied.key, name: f"for={FORGED}" if name == "Forwarded" else FORGED, **LAST}
        payload = {"signature_request": proxied.backend().wanted("zoe")}
        answer = client.post("/api/v1/signature_requests", json=payload, headers=headers)
        if "_" in name and answer.status_code == 400:
            return  # the proxy has refused it
        assert answer.status_code == 201, answer.text
    entries = proxied.backend().journal(answer.json()["id"])
    assert {entry["ip"] for entry in entries if entry["ip"]} == {CLIENT}


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


@contextmanager
def may_open(files: int) -> Iterator[None]:
    """Let this process open so many files; skip the test where the system does not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < files:
        pytest.skip(f"this process may open {hard} files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, files), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _quietly(front: Front) -> socket.socket:
    try:
        return front.connect(ATTACKER)
    except OSError:  # the proxy takes no more connections
        return socket.socket()


def test_half_heads_are_ended(proxied: Target, front: Front) -> None:
    with many(front, SLOW) as slow:
        for client in slow:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: ")
        began = time.monotonic()
        assert seconds_of_calls(proxied, front) < 5
        assert {client.recv(12) for client in slow} <= {b"", b"HTTP/1.1 408", b"HTTP/1.1 400"}
        assert time.monotonic() - began < 15


@pytest.mark.parametrize("begun", [1_000, 300_000])
@pytest.mark.parametrize("path", ["/api/v1/documents", "/account/login/"])
def test_slow_bodies_hold_up_nobody(proxied: Target, front: Front, path: str, begun: int) -> None:
    """There are more bodies than the service has threads; each sends something now and then."""
    with many(front, SLOW) as slow:
        for client in slow:
            begin_upload(proxied, front, client, path, begun)
        for _ in range(3):
            assert seconds_of_calls(proxied, front) < 5
            assert uploaded(proxied, front, pdf()) == 201
            for client in slow:
                send_what_is_taken(client, b"x")
        assert uploaded(proxied, front, pdf() + bytes(2_000_000)) in (201, 422)


def test_slow_bodies_of_several_addresses_hold_up_large_ones_at_most(proxied: Target, front: Front) -> None:
    """HAProxy passes eight large bodies on while they still come; nginx and Caddy wait for the whole of a body."""
    with many(front, SLOW, ATTACKER) as slow, many(front, SLOW, ANOTHER) as more, many(front, SLOW, THIRD) as most:
        for client in [*slow, *more, *most]:
            begin_upload(proxied, front, client, "/api/v1/documents", 300_000)
        assert seconds_of_calls(proxied, front) < 5
        assert uploaded(proxied, front, pdf()) == 201
        large = uploaded(proxied, front, pdf() + bytes(2_000_000))
        assert large == 503 if front.program == "haproxy" else large in (201, 422)


def begin_upload(target: Target, front: Front, client: ssl.SSLSocket, path: str, size: int) -> None:
    headers = [f"X-Api-Key: {target.key}", "Content-Type: multipart/form-data; boundary=x", "Content-Length: 9000000"]
    send(front, client, "POST", path, *headers)
    send_what_is_taken(client, UPLOAD.ljust(size, b"x"))


def test_slow_readers_hold_up_nobody(proxied: Target, front: Front, file: str) -> None:
    with many(front, READERS, buffer=4096) as readers:
        for reader in readers:
            send(front, reader, "GET", relative(file))
        assert seconds_of_calls(proxied, front) < 5
        assert downloaded(front, file), "others still get their files"


def test_slow_readers_of_several_addresses_hold_up_downloads_at_most(proxied: Target, front: Front, file: str) -> None:
    """nginx takes each file from the service at once, HAProxy ends readers that stop for 20 s, Caddy lets them be."""
    patience = {"nginx": 5, "haproxy": 40, "caddy": 0}[front.program]
    with many(front, READERS, ATTACKER, buffer=4096) as readers, many(front, READERS, ANOTHER, buffer=4096) as more:
        for reader in [*readers, *more]:
            send(front, reader, "GET", relative(file))
        assert seconds_of_calls(proxied, front) < 5
        deadline = time.monotonic() + patience
        while not (whole := downloaded(front, file)) and time.monotonic() < deadline:
            time.sleep(1)
        assert whole == bool(patience)


def downloaded(front: Front, file: str) -> bool:
    """Whether the whole file came; nothing of it does where the service says that it is busy."""
    with front.client(CLIENT) as client:
        answer = client.get(relative(file))
    if answer.status_code == 503:
        assert answer.json()["error"]["code"] == "unavailable" and answer.headers["Retry-After"]
        return False
    assert answer.status_code == 200
    return len(answer.content) > LARGE


def relative(file: str) -> str:
    parts = urlsplit(file)
    return f"{parts.path}?{parts.query}"


@contextmanager
def many(front: Front, count: int, address: str = ATTACKER, buffer: int = 0) -> Iterator[list[ssl.SSLSocket]]:
    """Yield so many connections on which nothing has been asked."""
    with ExitStack() as stack:
        yield [stack.enter_context(secure(front, address, buffer)) for _ in range(count)]


def secure(front: Front, address: str = ATTACKER, buffer: int = 0) -> ssl.SSLSocket:
    return front.trust.wrap_socket(front.connect(address, buffer), server_hostname="localhost")


def send(front: Front, client: ssl.SSLSocket, method: str, path: str, *headers: str) -> None:
    lines = [f"{method} {path} HTTP/1.1", f"Host: localhost:{front.port}", *headers, "", ""]
    client.sendall("\r\n".join(lines).encode())


def send_what_is_taken(client: ssl.SSLSocket, content: bytes) -> None:
    client.settimeout(1)
    with suppress(OSError):  # the proxy may have refused it
        client.sendall(content)


def uploaded(target: Target, front: Front, content: bytes) -> int:
    with front.client(CLIENT) as client:
        files = {"file": ("a.pdf", content, "application/pdf")}
        return client.post("/api/v1/documents", files=files, headers={"X-Api-Key": target.key}).status_code


@pytest.mark.parametrize("expectation", [{}, {"Expect": "100-continue"}])
def test_who_sends_everything_first_can_read_why_it_was_refused(front: Front, expectation: dict[str, str]) -> None:
    with front.client(CLIENT) as client:
        files = {"file": ("a.pdf", bytes(40 << 20), "application/pdf")}
        refused = client.post("/api/v1/documents", files=files, headers={"X-Api-Key": "0" * 64, **expectation})
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_api_key")


def test_a_body_beyond_the_limit_does_not_arrive(front: Front) -> None:
    with secure(front) as client:
        send(front, client, "POST", "/healthz", f"Content-Length: {1 << 30}")
        with suppress(OSError):  # the proxy has read enough
            for _ in range(60):
                client.sendall(bytes(1 << 20))
        assert client.recv(12) == b"HTTP/1.1 413"


def seconds_of_calls(target: Target, front: Front) -> float:
    """Make pairs of calls for 1.5 s; return the seconds of the slowest pair."""
    longest, end = 0.0, time.monotonic() + 1.5
    while time.monotonic() < end:
        began = time.monotonic()
        with front.client(CLIENT) as client:  # each time over a new connection
            assert client.get("/healthz").status_code == 200
            assert client.get("/api/v1/documents", headers={"X-Api-Key": target.key}).status_code == 200
        longest = max(longest, time.monotonic() - began)
        time.sleep(0.1)
    return longest
