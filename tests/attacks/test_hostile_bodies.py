"""Harmful bodies, over HTTP to a really served process: larger than they say or than the service takes, or growing to
far more than was sent. Each is refused in the envelope, and the service's memory stays bounded."""

import json
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.attacks.conftest import Target
from tests.factories import pdf
from tests.pdf import hostile
from tests.scenarios.people import at, signer, under

pytestmark = pytest.mark.thorough

MIB = 1024 * 1024
GIB = 1024 * MIB
MOST = {"web": 400 * MIB, "reading": 256 * MIB}
"""The web process has 100 MiB before its first request."""
AT_ONCE = 16
HEAD = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\nContent-Type: application/pdf\r\n\r\n'
MULTIPART, JSON = "Content-Type: multipart/form-data; boundary=x", "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"
TOO_LARGE = (413, "payload_too_large")
INVALID = (422, "validation_error")
BUSY = (503, "unavailable")


class Peaks:
    """The most resident bytes that any process of a kind ever had: ``web``, or ``reading`` PDFs for a web process."""

    def __init__(self, target: Target) -> None:
        self._target, self._web = target, target.called("paraph-web")
        self._highest = Counter[str]()
        self._over, self._looking = threading.Event(), threading.Lock()
        for pid in (*self._web, *target.readers(self._web)):
            with suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text("5")  # resets the peak to what is resident now (proc(5))

    def watch(self) -> None:
        while not self._over.wait(0.1):  # a process that reads PDFs may soon be gone
            self.look()

    def look(self) -> Counter[str]:
        with self._looking:
            for kind, pids in (("web", self._web), ("reading", self._target.readers(self._web))):
                for pid in pids:
                    with suppress(OSError):
                        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
                        sizes = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
                        self._highest[kind] = max(self._highest[kind], *sizes)
            return self._highest.copy()

    def end(self) -> None:
        self._over.set()


@pytest.fixture(scope="module")
def target(new_target: Callable[..., Target]) -> Target:
    """Return a target of its own, whose web process has needed memory for nothing else."""
    return new_target()


@pytest.fixture(scope="module")
def peaks(target: Target) -> Iterator[Peaks]:
    """Yield the peaks, which are watched from before the first test of this file to the last."""
    target.backend().ask("zoe")
    seen = Peaks(target)
    thread = threading.Thread(target=seen.watch)
    thread.start()
    yield seen
    seen.end()
    thread.join()


def repeated(part: str, size: int) -> str:
    """Return a JSON array that repeats the part, of about ``size`` bytes."""
    return "[" + ",".join([part] * ((size - 100) // (len(part) + 1))) + "]"


def refusals(send: Callable[[], httpx.Response], times: int = AT_ONCE) -> set[tuple[int, str]]:
    """Return the refusals of ``times`` calls that are sent at once."""
    with ThreadPoolExecutor(times) as pool:
        return {refusal(future.result()) for future in [pool.submit(send) for _ in range(times)]}


def refusal(answer: httpx.Response) -> tuple[int, str]:
    content = answer.json()
    assert set(content) == {"error"} and content["error"].keys() >= {"code", "message"}
    return answer.status_code, str(content["error"]["code"])


def post(url: str, content: bytes, *, chunked: bool) -> httpx.Response:
    body = iter([content]) if chunked else content
    return httpx.post(url, content=body, headers={"Content-Type": "application/json"}, timeout=60)


@pytest.mark.parametrize("chunked", [False, True], ids=["whole", "chunked"])
def test_points_at_once(target: Target, peaks: Peaks, *, chunked: bool) -> None:
    """This test stands before those below, which may take more memory."""
    url = target.backend().ask("zoe")["signers"][0]["signing_url"] + "/signature"
    for told, times, part, size in (
        (INVALID, AT_ONCE, "[9,9]", MIB // 2),
        (INVALID, AT_ONCE, '{"a":1}', MIB // 2),
        (TOO_LARGE, 4, "[9,9]", 4 * MIB),
    ):
        strokes = f"[{repeated(part, size - 100)}]".encode()
        content = b'{"code":"000000","consent":true,"signature":{"type":"drawn","strokes":%b}}' % strokes
        assert size - 300 < len(content) <= size
        answers = refusals(partial(post, url, content, chunked=chunked), times)
        assert told in answers and answers <= {told, BUSY}  # one tenant has half of the places, and waits two seconds
    assert peaks.look()["web"] < 256 * MIB


def creation(signers: Any = 0, document: int = 1) -> bytes:
    """Return the body of a creation about one document with these signers."""
    whole = {"mode": "parallel", "validity_days": 1, "signers": [signer("ada")]}
    whole["documents"] = [{"id": document, "signers": signers}]
    return json.dumps({"signature_request": whole}, separators=(",", ":")).encode()


def create(target: Target, content: bytes) -> httpx.Response:
    headers = {"Content-Type": "application/json"}
    return target.backend().call("POST", "signature_requests", content=content, headers=headers)


@pytest.mark.parametrize("part", ["{}", '{"a":1}'])
def test_assignments_at_once(target: Target, peaks: Peaks, part: str) -> None:
    content = creation().replace(b'"signers":0', f'"signers":{repeated(part, 6 * MIB // 5)}'.encode())
    assert refusals(partial(create, target, content)) == {INVALID}
    assert peaks.look()["web"] < 256 * MIB


class Raw:
    """A client that sends what it likes and reads when it likes."""

    def __init__(self, target: Target, path: str, *headers: str, key: str = "") -> None:
        self._socket = socket.create_connection(("127.0.0.1", target.port), timeout=20)
        lines = [f"POST /api/v1/{path} HTTP/1.1", "Host: localhost", f"X-Api-Key: {key or target.key}", *headers]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, content: bytes) -> None:
        self._socket.sendall(content)

    def send_chunks(self, first: bytes, total: int) -> int:
        """Send ``total`` bytes in chunks, and their end; return how many left before the connection was closed."""
        sent = 0
        with suppress(OSError):
            while sent < total:
                block = b"x" * MIB if sent else first
                self.send(b"%x\r\n%b\r\n" % (len(block), block))
                sent += len(block)
            self.send(b"0\r\n\r\n")
        return sent

    def answer(self) -> tuple[int, str]:
        """Return status and code of the refusal, after checking its envelope."""
        response = self.read()
        error = json.loads(response[1])["error"]
        assert set(error) == {"code", "message"} and error["message"]
        return response[0], error["code"]

    def read(self) -> tuple[int, bytes, bool]:
        """Return status and content of an answer, and whether the connection ends with it."""
        response = HTTPResponse(self._socket)
        response.begin()
        return response.status, response.read(), response.will_close

    def answers_within(self, seconds: float) -> bool:
        self._socket.settimeout(seconds)
        try:
            return bool(self._socket.recv(1, socket.MSG_PEEK))
        except TimeoutError:
            return False

    def end(self) -> None:
        """Send nothing more, but still read."""
        self._socket.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize(
    ("path", "kind", "begun"),
    [("documents", MULTIPART, HEAD), ("signature_requests", JSON, b'{"signature_request": {}}')],
)
def test_a_gibibyte_announced_is_refused_at_once_and_a_body_that_ends_early_too(
    target: Target, path: str, kind: str, begun: bytes
) -> None:
    with Raw(target, path, kind, f"Content-Length: {GIB}") as client:
        client.send(begun)
        assert client.answers_within(2)
        assert client.answer() == TOO_LARGE
    with Raw(target, path, kind, "Content-Length: 100000") as client:
        client.send(begun)
        client.end()
        assert client.answer() == (408, "request_timeout")


def test_a_gibibyte_in_chunks_is_refused_and_cut_off(target: Target) -> None:
    with Raw(target, "documents", MULTIPART, CHUNKED) as client:
        assert client.send_chunks(HEAD, GIB) < GIB / 4
        assert client.answer() == TOO_LARGE


def test_who_sends_everything_first_or_waits_to_be_told_can_read_why_it_was_refused(target: Target) -> None:
    with Raw(target, "documents", MULTIPART, CHUNKED, key="0" * 64) as client:
        assert client.send_chunks(HEAD, 60 * MIB) >= 60 * MIB
        assert client.answer() == (401, "invalid_api_key")
    expecting = ("Expect: 100-continue", f"Content-Length: {MIB}")
    with Raw(target, "documents", MULTIPART, *expecting, key="0" * 64) as client:
        assert client.answers_within(2)
        client.send(bytes(MIB))
        assert client.answer() == (401, "invalid_api_key")


@pytest.mark.parametrize("header", ["Transfer_Encoding: chunked", "Content_Length: 1000000", "Content_Type: text/x"])
def test_nothing_is_smuggled_in_a_body(target: Target, header: str) -> None:
    """A body is as long as its true header says: what follows is the next request, or the connection ends."""
    with Raw(target, "signature_requests", JSON, "Content-Length: 2", header) as client:
        client.send(b"{}")
        status, content, closes = client.read()
        assert status == 422 and b"validation_error" in content
        if not closes:
            client.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.read()[:2] == (200, b"ok\n")


def test_a_zip_bomb_in_a_stream_and_characters_that_no_file_name_has(target: Target) -> None:
    files = {"file": ("a.pdf", hostile.inflating(16, filters=2), "application/pdf")}
    assert refusal(target.backend().call("POST", "documents", files=files)) == INVALID
    body = HEAD.replace(b"a.pdf", b"a\0b\xed\xa0\x80.pdf") + b"no PDF\r\n--x--\r\n"
    headers = dict([MULTIPART.split(": ")])
    assert refusal(target.backend().call("POST", "documents", content=body, headers=headers)) == INVALID


def test_a_hundred_thousand_stamps(target: Target) -> None:
    backend = target.backend()
    before = backend.call("GET", "signature_requests").json()["pagination"]["count"]
    document = backend.upload(pdf())
    many = [{"signer_ref": f"{number}", "stamps": [under("a")] * 10} for number in range(2_000)]
    for stamps, told in ((many, INVALID), ([{"signer_ref": "ada", "stamps": [at()] * 100_000}], TOO_LARGE)):
        assert refusal(create(target, creation(stamps, document))) == told
    refused = create(target, creation([{"signer_ref": "ada", "stamps": [{}] * 100_000}], document))
    assert (
        refusal(refused) == INVALID and "must have from 1 to 10 stamps" in refused.text and len(refused.text) < 20_000
    )
    assert backend.call("GET", "signature_requests").json()["pagination"]["count"] == before


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
    assert len(content) <= 4 * MIB and refusal(create(target, content)) == INVALID


def test_after_all_that_the_service_is_well_and_never_was_large(target: Target, peaks: Peaks) -> None:
    """This test stands last: the peaks are those of everything above."""
    target.backend().upload(pdf())
    seen = peaks.look()
    assert all(0 < seen[kind] < most for kind, most in MOST.items()), seen
    limits = [Path(f"/proc/{pid}/limits").read_text() for pid in target.processes()]
    [bounds] = {line for text in limits for line in text.splitlines() if line.startswith("Max address space")}
    assert int(bounds.split()[4]) == target.memory, "the attacks were made on processes that cannot have more"
    assert not [line for line in target.output if '"level": "error"' in line and '"status": 503' not in line]
