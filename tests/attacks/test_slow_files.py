"""Files and pictures that take all the time that they are granted, on many connections at once. The process that
reads a file to seal it may take as much time as the upload was allowed, and the worker survives it."""

import os
import re
import signal
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.attacks.bystander import SOON, Attack, Bystander, upload
from tests.attacks.conftest import Target
from tests.factories import pdf
from tests.pdf import hostile
from tests.scenarios.people import Backend, at, sign

pytestmark = pytest.mark.thorough

CONNECTIONS = 20
SLOW = hostile.nested_forms()
UPLOADS = 24


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
        seen = bystander.watch(5)
        busy = target.readers()

    for name, calls in seen.items():
        assert {status for status, _ in calls} <= {200, 201}, name
        assert max(seconds for _, seconds in calls) < SOON, name
    # One reader for the picture and, once that one runs last, an ordinary one in its stead; one for the other
    # organization; and the worker's own for its seals.
    assert len(busy) <= 4
    told = {answer.status_code for answer in attack.answers}
    assert told == {503, 422}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in attack.answers if answer.status_code == 503)
    again = httpx.get(picture, timeout=60)
    assert (again.status_code, again.json()["error"]["page_number"]) == (422, 2)
    assert again.elapsed.total_seconds() < 2


def test_no_process_of_the_target_can_have_more_memory_than_the_test_gives(target: Target) -> None:
    target.backend().upload(pdf())
    limits = [Path(f"/proc/{number}/limits").read_text() for number in target.processes()]

    [bounds] = {line for text in limits for line in text.splitlines() if line.startswith("Max address space")}
    assert int(bounds.split()[4]) == target.memory


@pytest.fixture(scope="module")
def own_target(new_target: Callable[..., Target]) -> Target:
    """Return a target of its own: its calls are timed, and its metrics count only the files of one test."""
    return new_target()


def test_the_files_of_one_organization_stop_nobody_else(own_target: Target) -> None:
    bystander, number = Bystander(own_target), count()

    def send(connection: httpx.Client) -> httpx.Response:
        return upload(connection, own_target.key, SLOW + b"\n%% %d" % next(number))  # never the same file again

    with Attack(own_target, send, UPLOADS) as attack:
        seen = bystander.watch(6)

    for name, calls in seen.items():
        assert {status for status, _ in calls} <= {200, 201}, name
        assert max(seconds for _, seconds in calls) < SOON, name
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
