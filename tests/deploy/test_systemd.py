"""The units of systemd: its own programs find no fault with them, and they wait long enough for an orderly end."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from paraph.cli import serve, web, worker
from paraph.operations.check import service_checks
from paraph.postgres import server

FOLDER = Path(__file__).parents[2] / "deploy" / "systemd"
UNITS = sorted(FOLDER.iterdir())
PROGRAM = "/opt/paraph/bin/paraph"
_LAST_KILL_SECONDS = 5  # between SIGQUIT and SIGKILL of the embedded database

needs_systemd = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd-analyze (Debian: systemd) is missing"
)


@pytest.fixture(params=UNITS, ids=lambda path: path.name)
def installed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The unit, with a program that exists on this machine."""
    original: Path = request.param
    text = original.read_text()
    assert f"ExecStart={PROGRAM} " in text
    unit = tmp_path / original.name.replace("@.", "@1.")
    unit.write_text(text.replace(PROGRAM, "/bin/true"))
    return unit


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["systemd-analyze", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@needs_systemd
def test_systemd_finds_no_fault_where_there_is_none(installed: Path) -> None:
    verify = ("verify", "--man=no", "--recursive-errors=no", str(installed))
    done = analyze(*verify)
    assert (done.returncode, done.stderr) == (0, "")
    done = analyze("security", "--offline=yes", "--threshold=30", "--no-pager", str(installed))
    assert done.returncode == 0, done.stdout + done.stderr
    installed.write_text(installed.read_text().replace("ProtectSystem=strict", "ProtectSystem=stricter"))
    assert "stricter" in analyze(*verify).stderr


def test_each_unit_waits_until_the_process_has_ended_by_itself() -> None:
    """Only the main process is told to end; it ends its children itself, in order."""
    longest_serve = serve._WEB_GRACE + serve._WORKER_GRACE + server._STOP_SECONDS + _LAST_KILL_SECONDS
    longest_web = web._KILL_SECONDS + web._DRAIN_SECONDS
    for unit, longest in (("", longest_serve), ("-web", longest_web), ("-worker@", worker._LAST_SECONDS)):
        text = (FOLDER / f"paraph{unit}.service").read_text()
        assert "\nKillMode=mixed\n" in text and _seconds("TimeoutStopSec", text) >= longest + 5


def _seconds(name: str, unit: str) -> int:
    [found] = re.findall(rf"^{name}=(\d+)$", unit, re.MULTILINE)
    return int(found)


def test_a_worker_that_stands_still_is_noticed() -> None:
    """The worker reports ten times within the watchdog's limit, and its start may take as long as its own checks."""
    unit = (FOLDER / "paraph-worker@.service").read_text()
    assert "Type=notify\n" in unit and _seconds("WatchdogSec", unit) >= 10 * worker._EVERY_SECONDS
    assert _seconds("TimeoutStartSec", unit) >= 2 * service_checks._START_SECONDS
