"""Input that wants to do harm, over HTTP to a really served process: each has its refusal in the envelope, and the
memory of the service stays bounded."""

import json
import socket
import sys
from collections.abc import Callable, Iterator
from http.client import HTTPResponse
from typing import Any

import httpx
import pytest

from tests.cli.service import Service, remove
from tests.factories import pdf
from tests.pdf import hostile
from tests.scenarios.memory import Peaks, watched
from tests.scenarios.people import Backend, at, signer, under

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="the peaks of memory are read from /proc, Linux's"),
]

MIB = 1024 * 1024
GIB = 1024 * MIB
HEAD = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\nContent-Type: application/pdf\r\n\r\n'
MULTIPART = "multipart/form-data; boundary=x"
MOST_OF_WEB = 400 * MIB  # of which 100 are there before the first request
MOST_OF_READING = 256 * MIB


class Target(Service):
    """One web process; ``peaks``: what it needed at most while the tests of this file ran."""

    peaks: Peaks

    def backend(self) -> Backend:
        return Backend(self.base_url, self.key)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    service = Target(
        tmp_path_factory.mktemp("hostile") / "data",
        PARAPH_WEB_PROCESSES="1",
        PARAPH_WORKER_PROCESSES="1",
        PARAPH_RATE_LIMIT_FACTOR="100",
    )
    service.begin()
    assert service.process
    service.backend().upload(pdf())
    with watched(service.process.pid) as service.peaks:
        yield service
    service.stop()
    remove(service.data_dir)


class Raw:
    """A client that sends what it likes and reads when it likes."""

    def __init__(self, target: Target, path: str, *headers: str, key: str = "") -> None:
        self._socket = socket.create_connection(("127.0.0.1", target.port), timeout=20)
        path = path if path.startswith("/") else f"/api/v1/{path}"
        lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"X-Api-Key: {key or target.key}", *headers]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())

    def send(self, content: bytes) -> None:
        self._socket.sendall(content)

    def send_chunks(self, first: bytes, total: int) -> int:
        """``total`` bytes in chunks, and their end; how many of them left before the connection was closed."""
        block, sent = b"x" * MIB, len(first)
        try:
            self.send(b"%x\r\n%b\r\n" % (len(first), first))
            while sent < total:
                self.send(b"%x\r\n%b\r\n" % (len(block), block))
                sent += len(block)
            self.send(b"0\r\n\r\n")
        except OSError:
            pass
        return sent

    def answer(self) -> tuple[int, str]:
        """Status and code of the refusal, which is in the envelope."""
        response = HTTPResponse(self._socket)
        response.begin()
        error = json.loads(response.read())["error"]
        assert set(error) == {"code", "message"} and error["message"]
        return response.status, error["code"]

    def answers_within(self, seconds: float) -> bool:
        self._socket.settimeout(seconds)
        try:
            return bool(self._socket.recv(1, socket.MSG_PEEK))
        except TimeoutError:
            return False

    def end(self) -> None:
        """Sends nothing more, and still reads."""
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._socket.close()


TOO_LARGE = (413, "payload_too_large")
INVALID = (422, "validation_error")
CUT = (408, "request_timeout")
CHUNKED = "Transfer-Encoding: chunked"


def refusal(answer: httpx.Response) -> tuple[int, str]:
    content = answer.json()
    assert set(content) == {"error"} and set(content["error"]) == {"code", "message"}
    return answer.status_code, str(content["error"]["code"])


def create(target: Target, content: bytes) -> tuple[tuple[int, str], str]:
    """The refusal of a creation, and its message."""
    headers = {"Content-Type": "application/json"}
    answer = target.backend().call("POST", "signature_requests", content=content, headers=headers)
    return refusal(answer), str(answer.json()["error"]["message"])


@pytest.mark.parametrize(
    ("path", "content_type"), [("documents", MULTIPART), ("signature_requests", "application/json")]
)
def test_a_gibibyte_announced_is_refused_at_once(target: Target, path: str, content_type: str) -> None:
    client = Raw(target, path, f"Content-Type: {content_type}", f"Content-Length: {GIB}")
    client.send(HEAD)
    assert client.answers_within(2)
    assert client.answer() == TOO_LARGE
    client.close()


def test_a_gibibyte_in_chunks_is_refused_and_cut_off(target: Target) -> None:
    client = Raw(target, "documents", f"Content-Type: {MULTIPART}", CHUNKED)
    assert client.send_chunks(HEAD, GIB) < GIB / 4
    assert client.answer() == TOO_LARGE
    client.close()


@pytest.mark.parametrize("key", ["", "0" * 64], ids=["good key", "bad key"])
def test_who_sends_everything_first_can_read_why_it_was_refused(target: Target, key: str) -> None:
    client = Raw(target, "documents", f"Content-Type: {MULTIPART}", CHUNKED, key=key)
    assert client.send_chunks(HEAD, 60 * MIB) >= 60 * MIB
    assert client.answer() == ((401, "invalid_api_key") if key else TOO_LARGE)
    client.close()


def test_who_waits_to_be_told_is_told_after_all(target: Target) -> None:
    expecting = ("Expect: 100-continue", f"Content-Length: {MIB}")
    client = Raw(target, "documents", f"Content-Type: {MULTIPART}", *expecting, key="0" * 64)
    assert client.answers_within(2)
    client.send(bytes(MIB))
    assert client.answer() == (401, "invalid_api_key")
    client.close()


@pytest.mark.parametrize(
    ("path", "content_type", "begun"),
    [("documents", MULTIPART, HEAD), ("signature_requests", "application/json", b'{"signature_request": {}}')],
)
def test_a_body_that_ends_before_its_length_is_refused(
    target: Target, path: str, content_type: str, begun: bytes
) -> None:
    client = Raw(target, path, f"Content-Type: {content_type}", "Content-Length: 100000")
    client.send(begun)
    client.end()
    assert client.answer() == CUT
    client.close()


def test_signing_pages_take_no_more(target: Target) -> None:
    page = "/sign/" + target.backend().ask("ada")["signers"][0]["signing_url"].rpartition("/")[2]
    for endpoint in ("otp", "signature"):
        client = Raw(target, f"{page}/{endpoint}", "Content-Type: application/json", f"Content-Length: {GIB}")
        client.send(b'{"channel": "em')
        assert client.answer() == TOO_LARGE
        client.close()


@pytest.mark.parametrize(
    "bomb",
    [lambda: hostile.inflating(on_page=True), lambda: hostile.inflating(16, filters=2)],
    ids=["2 GiB", "16 GiB packed twice"],
)
def test_a_zip_bomb_in_a_stream(target: Target, bomb: Callable[[], bytes]) -> None:
    files = {"file": ("a.pdf", bomb(), "application/pdf")}
    assert refusal(target.backend().call("POST", "documents", files=files)) == INVALID


def test_a_hundred_thousand_stamps(target: Target) -> None:
    backend = target.backend()
    before = backend.call("GET", "signature_requests").json()["pagination"]["count"]
    document = backend.upload(pdf())
    whole = creation(document, [at()] * 100_000)
    assert len(whole) > 4 * MIB
    assert create(target, whole)[0] == TOO_LARGE
    refused, message = create(target, creation(document, [{}] * 100_000))
    assert refused == INVALID and "must have from 1 to 10 stamps" in message and len(message) < 20_000
    many = [{"signer_ref": f"{number}", "stamps": [under("a")] * 10} for number in range(2_000)]
    assert create(target, creation(document, [], many))[0] == INVALID
    assert backend.call("GET", "signature_requests").json()["pagination"]["count"] == before


def creation(document: int, stamps: list[Any], assignments: list[Any] | None = None) -> bytes:
    content = {
        "mode": "parallel",
        "validity_days": 1,
        "signers": [signer("ada")],
        "documents": [{"id": document, "signers": assignments or [{"signer_ref": "ada", "stamps": stamps}]}],
    }
    return json.dumps({"signature_request": content}, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 4 * MIB,
        b'{"a":' * 800_000,
        b'{"signature_request":' + b"[" * 500_000 + b"]" * 500_000 + b"}",
        b'{"signature_request":[' + b"[]," * 1_300_000 + b"0]}",
        b'{"signature_request":{' + b'"":{},' * 600_000 + b'"a":0}}',
    ],
    ids=["arrays", "objects", "closed", "wide arrays", "one name again and again"],
)
def test_nested_and_wide_json(target: Target, content: bytes) -> None:
    assert len(content) <= 4 * MIB
    assert create(target, content)[0] == INVALID


def test_characters_that_no_file_name_nor_address_has(target: Target) -> None:
    name = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a\0b\xed\xa0\x80.pdf"\r\n'
    body = name + b"Content-Type: application/pdf\r\n\r\n" + b"no PDF" + b"\r\n--x--\r\n"
    answer = target.backend().call("POST", "documents", content=body, headers={"Content-Type": MULTIPART})
    assert refusal(answer) == INVALID
    assert refusal(target.backend().call("GET", "documents", params={"status": "a\0b"})) == INVALID
    assert refusal(target.backend().call("GET", "documents/%00%ed%a0%80")) == (404, "not_found")


def test_after_all_that_the_service_is_well_and_never_was_large(target: Target) -> None:
    """Last in this file: the peaks are those of everything above."""
    target.backend().upload(pdf())
    assert target.peaks.web < MOST_OF_WEB, f"{target.peaks.web / MIB:.0f} MiB"
    assert target.peaks.reading < MOST_OF_READING, f"{target.peaks.reading / MIB:.0f} MiB"
    assert not [line for line in target.output if '"level": "error"' in line]
