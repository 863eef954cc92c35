"""Faults in the middle of the work: workers are killed while they seal, and the request still finalizes with one seal
for each document; answers are lost after the commit, clients repeat their calls, and nothing is made twice."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lab.chaos.dropped_answers import create, judge
from tests.contract import contract
from tests.independent import assert_sealed
from tests.scenarios.conftest import Service
from tests.scenarios.people import Backend, at, sign, signer

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc, which is Linux's"),
]

_DOCUMENTS = 50


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[Service]:
    running = Service(tmp_path / "data")
    running.data_dir.mkdir()
    running.start()
    yield running
    running.stop()


def test_it_finalizes_exactly_once(own_service: Service, tmp_path: Path) -> None:
    backend = Backend(own_service.url, own_service.new_key("enterprise", "sandbox"))
    documents = [backend.upload(contract() + b"\n%% %d\n" % number) for number in range(_DOCUMENTS)]
    request = backend.create(
        mode="parallel",
        validity_days=1,
        signers=[signer("a")],
        documents=[{"id": document, "signers": [{"signer_ref": "a", "stamps": [at()]}]} for document in documents],
    )
    victims = _workers(own_service)
    assert victims, "no worker process was found"
    assert sign(request["signers"][0]["signing_url"]).status_code == 200
    _wait_until_sealing(backend, request["id"])
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    done = _sealed(backend, request["id"])
    assert done < _DOCUMENTS, "the workers were killed too late to prove anything"

    try:
        finished = backend.finalized(request["id"], seconds=90)
    except AssertionError as error:
        state = own_service.operate("request", "show", str(request["id"]))
        raise AssertionError(f"{state['why']}\n{state['jobs']}\n{state['sealing_failure']}") from error
    told = [entry["event_type"] for entry in backend.journal(request["id"])]
    assert told.count("signature_request.pades_signed") == _DOCUMENTS
    assert told.count("signature_request.certificate_issued") == 1
    assert told.count("request.completed") == 1
    for number, urls in enumerate(finished["download_urls"]):
        path = tmp_path / f"{number}.pdf"
        path.write_bytes(httpx.get(urls["signed_url"], timeout=30).content)
        if number % 5 == 0:
            assert_sealed(path, own_service.root_pem)


def _wait_until_sealing(backend: Backend, request_id: int) -> None:
    deadline = time.monotonic() + 30
    while not _sealed(backend, request_id):
        assert time.monotonic() < deadline, "sealing did not begin"
        time.sleep(0.005)


def _sealed(backend: Backend, request_id: int) -> int:
    events = [entry["event_type"] for entry in backend.journal(request_id)]
    return events.count("signature_request.pades_signed")


def _workers(service: Service) -> list[int]:
    """The job workers below the supervisor."""
    found, waiting = [], [service.pid]
    while waiting:
        pid = waiting.pop()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        waiting += [int(child) for child in children]
        if Path(f"/proc/{pid}/comm").read_text().strip() == "paraph-worker":
            found.append(pid)
    return found


CREATIONS = 40


@pytest.mark.thorough
def test_everything_is_there_once(service: Service, tmp_path: Path) -> None:
    key = service.new_key("enterprise", "sandbox")
    assert create(service.url, key, CREATIONS, tmp_path) >= CREATIONS / 2
    judge(service.url, key, service.inbox, CREATIONS)
