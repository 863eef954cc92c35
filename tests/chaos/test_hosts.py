"""Two hosts behind a balancer, in short; ``make chaos`` has the whole form."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.hosts.network import refusal

pytestmark = pytest.mark.thorough


def test_a_host_is_rolled_unplugged_killed_and_nothing_is_lost() -> None:
    for program, package in {"haproxy": "haproxy", "ip": "iproute2", "nsenter": "util-linux"}.items():
        if not shutil.which(program):
            pytest.skip(f"{program} is missing: apt-get install {package}")
    if forbidden := refusal():
        pytest.skip(forbidden)
    command = [sys.executable, "-m", "lab.hosts.run", "--short", "--flows", "12"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("lost or done twice: nothing\n")
