"""An organization that keeps the processors busy leaves them to the others."""

import os
from collections.abc import Callable
from itertools import count

import httpx
import pytest

from paraph.pdf.untrusted.sandbox_process import processor_seconds
from tests.attacks.bystander import Attack, Bystander, readers, upload
from tests.attacks.conftest import Target
from tests.cli.service import wait_until
from tests.pdf import hostile

pytestmark = pytest.mark.thorough

SLOW = hostile.nested_forms()
CONNECTIONS = 12
BUSY = 3.0  # seconds of a processor, which nothing but a slow file takes here


@pytest.fixture(scope="module")
def target(new_target: Callable[..., Target]) -> Target:
    """One of its own: it has read nothing yet, so that every reader that has worked for long is one of these."""
    return new_target()


def test_slow_files_are_read_when_the_processors_have_nothing_else_to_do(target: Target) -> None:
    bystander, number = Bystander(target), count()

    def send(connection: httpx.Client) -> httpx.Response:
        return upload(connection, target.key, SLOW + b"\n%% %d" % next(number))

    with Attack(target, send, CONNECTIONS) as attack:
        seen = bystander.watch(2)
        wait_until(lambda: bool(last(target)) or not bystander.watch(0.1))
        for _ in range(3):
            seen["later"] = bystander.watch(0.5)["upload"]
            busy = [process for process in readers(target) if processor_seconds(process) > BUSY]
            assert set(busy) <= last(target)
        ordinary = set(readers(target)) - last(target)

    assert ordinary  # for the bystander, and for seals
    for name, calls in seen.items():
        assert {status for status, _ in calls} <= {200, 201}, name
    assert {answer.status_code for answer in attack.answers} <= {503, 422, 429}


def last(target: Target) -> set[int]:
    """Those of its processes that read PDFs after all others."""
    found = set()
    for process in readers(target):
        try:
            if os.sched_getscheduler(process) == os.SCHED_IDLE:
                found.add(process)
        except ProcessLookupError:
            continue
    return found
