"""What reads a file to seal it is a process that the worker survives, and takes as much as the upload was allowed."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.conftest import Target
from tests.attacks.files import new_request
from tests.pdf import hostile
from tests.scenarios.people import Backend, at, sign

pytestmark = pytest.mark.thorough


def signed(backend: Backend, **options: Any) -> int:
    """A request that everybody has signed."""
    made = new_request(backend, **options)
    assert sign(made["signers"][0]["signing_url"]).status_code == 200
    return int(made["id"])


def readers_of(workers: set[int]) -> set[int]:
    """The processes that read files for the workers. They know nothing of the data folder."""
    listed = (path.read_text().split() for pid in workers for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return {int(child) for line in listed for child in line}


def test_as_much_as_is_taken_is_sealed_too(target: Target) -> None:
    """Just below the limits, with a mark on the page that is so large."""
    backend, workers = target.backend(), target.workers()
    # Such a file is read where processors have nothing else to do: not while other tests use them all.
    document = backend.upload(hostile.many_contents(1, 60), timeout=240)
    backend.finalized(signed(backend, document=document, stamps=[at(2)]), seconds=60)
    assert target.workers() == workers


def test_the_worker_survives_the_processes_that_read_for_it(target: Target) -> None:
    backend, workers = target.backend(), target.workers()
    backend.finalized(signed(backend))
    readers = readers_of(workers)
    assert readers, "files are read in the worker itself"
    for pid in readers:
        os.kill(pid, signal.SIGSTOP)
    made = signed(backend)
    time.sleep(0.5)
    for pid in readers:
        os.kill(pid, signal.SIGKILL)  # in the middle of their work
    backend.finalized(made, seconds=60)
    assert target.workers() == workers
