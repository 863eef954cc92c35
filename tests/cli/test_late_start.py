"""A machine with a load of eight gives a start little of its processors: the demo, and so a release, waits for it."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from paraph.cli.demo.service import DemoService
from tests.cli.service import remove, wait_until

STILL_SECONDS = 65  # longer than any part of a start may take by itself


@pytest.mark.thorough
def test_the_demo_waits_for_a_service_that_lives(tmp_path: Path) -> None:
    """Its process stands still for more than a minute, as one does that gets no processor."""
    (tmp_path / "data").mkdir()
    service = DemoService(tmp_path / "data", PARAPH_WORKER_PROCESSES="1", PARAPH_WEB_PROCESSES="1")
    failures: list[Exception] = []

    def start() -> None:
        try:
            service.start()
        except Exception as error:  # noqa: BLE001  told below
            failures.append(error)

    starting = threading.Thread(target=start)
    starting.start()
    try:
        wait_until(lambda: _begun(service))
        pid = service.pid
        os.kill(pid, signal.SIGSTOP)
        time.sleep(STILL_SECONDS)
        assert starting.is_alive(), failures
        os.kill(pid, signal.SIGCONT)
        starting.join(300)
        assert not starting.is_alive() and failures == []
        assert service.operate("inbox") == []
    finally:
        service.stop()
        remove(tmp_path / "data")


def _begun(service: DemoService) -> bool:
    try:
        return service.pid > 0
    except RuntimeError:  # it was not started yet
        return False
