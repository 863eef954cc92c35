"""Files and pictures that take all the time that they are granted, on many connections at once, and what somebody else
sees of the service meanwhile. The process that reads a file to seal it may take as much time as the upload was allowed,
and the worker survives it."""

import contextlib
import os
import re
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import pytest

from tests.attacks.conftest import Target
from tests.factories import pdf
from tests.pdf import hostile
from tests.scenarios.people import Backend, at, sign

pytestmark = pytest.mark.thorough

CONNECTIONS = 20
SLOW = hostile.nested_forms()
UPLOADS = 24

SOON = 10.0  # seconds, on a machine that others use as well; without fairness each call takes a minute
PAUSE = 0.5  # seconds before a connection of an attack sends again


class Bystander:
    """Another organization, with a request to sign. It makes calls of every kind, and uploads, which have to wait."""

    def __init__(self, target: Target) -> None:
        self._backend = target.backend(target.new_key())
        made = self._backend.ask("zoe")
        self._page = made["signers"][0]["signing_url"]
        self._request = f"/api/v1/signature_requests/{made['id']}"
        self._target = target

    def goes_on(self, seconds: float) -> None:
        """Make calls round after round, and assert that each is answered soon."""
        over, key = time.monotonic() + seconds, self._backend.api_key
        with client(self._target) as connection:
            while time.monotonic() < over:
                for path in ("/healthz", "/readyz", self._page, self._request):
                    answer = connection.get(path, headers={"X-Api-Key": key})
                    assert answer.status_code == 200 and answer.elapsed.total_seconds() < SOON, path
                answer = upload(connection, key, pdf())
                assert answer.status_code == 201 and answer.elapsed.total_seconds() < SOON


@dataclass
class Attack:
    """An attack on so many connections, each of which sends the same again and again. At its end, the target's readers
    are ended by the signal that the kernel sends when their processor time is over."""

    target: Target
    send: Callable[[httpx.Client], httpx.Response]
    connections: int
    answers: list[httpx.Response] = field(default_factory=list)

    def __enter__(self) -> "Attack":
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._go_on) for _ in range(self.connections)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        while any(thread.is_alive() for thread in self._threads):
            for process in self.target.readers():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGXCPU)
            time.sleep(PAUSE)

    def _go_on(self) -> None:
        with client(self.target) as connection:
            while not self._over.is_set():
                self.answers.append(self.send(connection))
                self._over.wait(PAUSE)


def client(target: Target) -> httpx.Client:
    """Return a client of its own, which keeps its connection."""
    return httpx.Client(base_url=target.base_url, timeout=90, verify=False)  # plain HTTP: no certificates to load


def upload(connection: httpx.Client, key: str, content: bytes) -> httpx.Response:
    files = {"file": ("a.pdf", content, "application/pdf")}
    return connection.post("/api/v1/documents", files=files, headers={"X-Api-Key": key})


def test_one_slow_picture_stops_nobody_and_is_drawn_once(target: Target) -> None:
    bystander = Bystander(target)
    sound = hostile.nested_forms(2, page=2)
    backend = target.backend()
    document = backend.upload(sound)
    made = backend.ask("zoe", document=document)
    for file in (target.data_dir / "objects").rglob("*"):  # as if the upload had been checked less
        if file.is_file() and file.read_bytes() == sound:
            file.write_bytes(hostile.nested_forms(page=2))
    picture = f"{made['signers'][0]['signing_url']}/documents/{document}/pages/2.webp"

    def look(connection: httpx.Client) -> httpx.Response:
        return connection.get(picture)

    with Attack(target, look, CONNECTIONS) as attack:
        bystander.goes_on(5)
        busy = target.readers()

    # One reader for the picture and, once that one runs last, an ordinary one in its stead; one for the other
    # organization; and the worker's own for its seals.
    assert len(busy) <= 4
    told = {answer.status_code for answer in attack.answers}
    assert told == {503, 422}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in attack.answers if answer.status_code == 503)
    again = httpx.get(picture, timeout=60)
    assert (again.status_code, again.json()["error"]["page_number"]) == (422, 2)
    assert again.elapsed.total_seconds() < 2


@pytest.fixture(scope="module")
def own_target(new_target: Callable[..., Target]) -> Target:
    """Return a target of its own: its calls are timed, and its metrics count only the files of one test."""
    return new_target()


def test_the_files_of_one_organization_stop_nobody_else(own_target: Target) -> None:
    bystander, number = Bystander(own_target), count()

    def send(connection: httpx.Client) -> httpx.Response:
        return upload(connection, own_target.key, SLOW + b"\n%% %d" % next(number))  # never the same file again

    with Attack(own_target, send, UPLOADS) as attack:
        bystander.goes_on(6)

    busy = [answer for answer in attack.answers if answer.status_code == 503]
    assert len(busy) > UPLOADS
    assert {answer.json()["error"]["code"] for answer in busy} == {"unavailable"}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in busy)
    assert {answer.status_code for answer in attack.answers} <= {503, 422, 429}
    told = httpx.get(f"{own_target.base_url}/metrics", timeout=60).text
    assert re.search(r'paraph_wait_seconds_count{place="(work|reader)",result="busy"} [1-9]', told)


def signed(backend: Backend, **options: Any) -> int:
    """Return the id of a request that everybody has signed."""
    made = backend.ask("zoe", **options)
    assert sign(made["signers"][0]["signing_url"]).status_code == 200
    return int(made["id"])


def test_as_much_as_is_taken_is_sealed_too(target: Target) -> None:
    """The document is just below the limits, and its large page gets a stamp."""
    backend, workers = target.backend(), target.called("paraph-worker")
    # Such a file is read only on idle processors, and so has to wait while other tests use them all.
    document = backend.upload(hostile.many_contents(1, 60), timeout=240)
    backend.finalized(signed(backend, document=document, stamps=[at(2)]), seconds=60)
    assert target.called("paraph-worker") == workers


def test_the_worker_survives_the_processes_that_read_for_it(target: Target) -> None:
    backend, workers = target.backend(), target.called("paraph-worker")
    backend.finalized(signed(backend))
    readers = target.readers(workers)
    assert readers, "files are read in the worker itself"
    for pid in readers:
        os.kill(pid, signal.SIGSTOP)
    made = signed(backend)
    time.sleep(0.5)
    for pid in readers:
        os.kill(pid, signal.SIGKILL)  # in the middle of their work
    backend.finalized(made, seconds=60)
    assert target.called("paraph-worker") == workers
