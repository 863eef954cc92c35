"""What reads a file to seal it is a process that the worker survives, and takes as much as the upload was allowed."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.attacks.conftest import Target
from tests.factories import pdf
from tests.pdf import hostile
from tests.scenarios.people import Backend, at, sign, signer

pytestmark = pytest.mark.thorough


def signed(backend: Backend, document: int, page: int = 1) -> int:
    """A request on the document that everybody has signed."""
    stamped = [{"signer_ref": "ada", "stamps": [at(page)]}]
    documents = [{"id": document, "signers": stamped}]
    made = backend.create(mode="parallel", validity_days=1, signers=[signer("ada")], documents=documents)
    assert sign(made["signers"][0]["signing_url"]).status_code == 200
    return int(made["id"])


def workers_of(target: Target) -> set[int]:
    return {pid for pid in target.processes() if Path(f"/proc/{pid}/comm").read_text().strip() == "paraph-worker"}


def readers_of(workers: set[int]) -> set[int]:
    """The processes that read files for the workers. They know nothing of the data folder."""
    listed = (path.read_text().split() for pid in workers for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return {int(child) for line in listed for child in line}


def test_as_much_as_is_taken_is_sealed_too(target: Target) -> None:
    """Just below the limits, with a mark on the page that is so large."""
    backend, workers = target.backend(), workers_of(target)
    # Such a file is read where processors have nothing else to do: not while other tests use them all.
    document = backend.upload(hostile.many_contents(1, 60), timeout=240)
    backend.finalized(signed(backend, document, page=2), seconds=60)
    assert workers_of(target) == workers


def test_the_worker_survives_the_processes_that_read_for_it(target: Target) -> None:
    backend, workers = target.backend(), workers_of(target)
    backend.finalized(signed(backend, backend.upload(pdf())))
    readers = readers_of(workers)
    assert readers, "files are read in the worker itself"
    for pid in readers:
        os.kill(pid, signal.SIGSTOP)
    request = signed(backend, backend.upload(pdf()))
    time.sleep(0.5)
    for pid in readers:
        os.kill(pid, signal.SIGKILL)  # in the middle of their work
    backend.finalized(request, seconds=60)
    assert workers_of(target) == workers
