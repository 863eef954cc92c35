"""A machine with a load of eight gives a start little of its processors: the demo, and so a release, waits for it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.service import clean_environment, processes_of, wait_until

STILL_SECONDS = 65  # longer than any part of a start may take by itself
DEMO = Path(__file__).parents[2] / "examples/demo.py"


@pytest.mark.thorough
def test_the_demo_waits_for_a_service_that_lives(tmp_path: Path) -> None:
    """Its process stands still for more than a minute, as one does that gets no processor."""
    environment = clean_environment(tmp_path / "data", TMPDIR=str(tmp_path))
    command = [sys.executable, str(DEMO), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as demo:
        wait_until(lambda: list(tmp_path.glob("paraph-demo-*/serve.log")) != [])
        wait_until(lambda: _service(tmp_path) != 0)
        pid = _service(tmp_path)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(STILL_SECONDS)
        assert demo.poll() is None
        os.kill(pid, signal.SIGCONT)
        assert demo.stdout
        assert demo.stdout.read().endswith("\nEverything matches.\n")
    assert demo.returncode == 0


def _service(folder: Path) -> int:
    """The first process with the demo's data folder, or 0."""
    return min(processes_of(next(folder.glob("paraph-demo-*"))), default=0)
