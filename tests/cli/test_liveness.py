"""How a worker tells that it works: a file, systemd's watchdog, its end where a part stands still; and the probe."""

import asyncio
import faulthandler
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from paraph.cli import worker
from tests.cli.service import Service, name_of, wait_until

PROJECT = Path(__file__).parents[2]
HEALTHY = (PROJECT / "scripts" / "healthy").read_text()
NEVER = {"a part": float("inf")}


def told_by(data_dir: Path, pid: int) -> Path:
    return data_dir / "alive" / f"worker-{socket.gethostname()}-{pid}"


async def tell_until(data_dir: Path, trouble: Callable[[], str], holds: Callable[[], bool]) -> None:
    telling = asyncio.create_task(worker.report_liveness(data_dir, lambda: NEVER, trouble))
    try:
        async with asyncio.timeout(60):
            while not holds():
                await asyncio.sleep(0.01)
    finally:
        telling.cancel()
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_EVERY_SECONDS", 0.01)


@pytest.mark.usefixtures("often")
def test_the_file_is_renewed_and_says_what_is_wrong(tmp_path: Path) -> None:
    path = told_by(tmp_path, os.getpid())
    troubles = ["", "the database does not answer", ""]
    seen: list[tuple[str, float]] = []

    def trouble() -> str:
        with suppress(FileNotFoundError):
            seen.append((path.read_text(), path.stat().st_mtime))
        return troubles[min(len(seen) // 3, 2)]

    asyncio.run(tell_until(tmp_path, trouble, lambda: len(seen) >= 12))
    assert list(dict.fromkeys(said for said, _ in seen)) == ["", "the database does not answer"]
    assert seen[-1][0] == "" and seen[-1][1] > seen[0][1]
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.usefixtures("often")
def test_files_of_processes_that_ended_long_ago_go(tmp_path: Path) -> None:
    kept, old, own = (told_by(tmp_path, pid) for pid in (1, 2, os.getpid()))
    kept.parent.mkdir()
    for path in (kept, old, own):
        path.write_text("of another process")
    os.utime(old, (0, 0))
    asyncio.run(tell_until(tmp_path, lambda: "", lambda: own.exists() and own.read_text() == ""))
    assert kept.exists() and not old.exists()


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abstract: bool) -> None:
    name = f"\0paraph-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(name)
        systemd.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", name.replace("\0", "@"))
        asyncio.run(tell_until(tmp_path, lambda: "", told_by(tmp_path, os.getpid()).exists))
        assert systemd.recv(100) == b"READY=1\nWATCHDOG=1"


@pytest.mark.usefixtures("often")
def test_a_folder_that_cannot_be_written_ends_no_worker(tmp_path: Path) -> None:
    (tmp_path / "alive").write_bytes(b"a file")
    looks: list[int] = []

    def trouble() -> str:
        looks.append(1)
        return ""

    asyncio.run(tell_until(tmp_path, trouble, lambda: len(looks) > 3))


def ended(run: Callable[[], Any], said: Path) -> int:
    """The exit status of a new process that calls ``run``; its standard error goes to the file ``said``."""

    def process() -> None:
        with said.open("wb") as file:
            os.dup2(file.fileno(), 2)
        sys.stderr = os.fdopen(2, "w")
        run()

    child = multiprocessing.get_context("fork").Process(target=process)
    child.start()
    child.join(120)
    assert child.exitcode is not None
    return child.exitcode


def test_a_part_that_stands_still_ends_the_process(tmp_path: Path) -> None:
    moments = iter([float("inf"), 0.0])

    def run() -> None:
        worker._EVERY_SECONDS = 0.01
        asyncio.run(
            worker.report_liveness(tmp_path, lambda: {"a part": float("inf"), "webhooks": next(moments)}, lambda: "")
        )

    assert ended(run, tmp_path / "said") == 1
    said = (tmp_path / "said").read_text()
    assert "(most recent call first)" in said and " in report_liveness\n" in said  # where its threads are


def test_a_loop_that_is_held_up_ends_the_process(tmp_path: Path) -> None:
    async def hold_up() -> None:
        telling = asyncio.create_task(worker.report_liveness(tmp_path, lambda: NEVER, lambda: ""))
        while not told_by(tmp_path, os.getpid()).exists():
            await asyncio.sleep(0.01)
        time.sleep(120)
        telling.cancel()

    def run() -> None:
        worker._STILL_SECONDS = 1
        asyncio.run(hold_up())

    assert ended(run, tmp_path / "said") == 1
    said = (tmp_path / "said").read_text()
    assert "Timeout" in said and " in hold_up\n" in said


@pytest.fixture
def probe(tmp_path: Path) -> Callable[..., int]:
    """Run the probe in a container that was ``started`` with this command; return its exit status. It has the programs
    of a shell alone: no Python, no Paraph."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("tr", "find", "cat"):
        (programs / name).symlink_to(str(shutil.which(name)))
    script = tmp_path / "healthy"
    script.write_text(HEALTHY.replace("/proc/1/cmdline", str(tmp_path / "cmdline")))

    def status(*options: str, started: str = "paraph worker") -> int:
        (tmp_path / "cmdline").write_text(started.replace(" ", "\0") + "\0")
        environment = {"PATH": str(programs), "PARAPH_DATA_DIR": str(tmp_path)}
        command = [str(shutil.which("sh")), str(script), *options]
        return subprocess.run(command, env=environment, timeout=60, check=False).returncode

    return status


def test_the_probe_reads_what_the_worker_tells(tmp_path: Path, probe: Callable[..., int]) -> None:
    assert (probe(), probe("--alive")) == (1, 1)  # the worker has not begun
    assert probe(started="paraph migrate") == 0, "a migration is always well"
    asyncio.run(tell_until(tmp_path, lambda: "", told_by(tmp_path, os.getpid()).exists))
    assert (probe(), probe("--alive")) == (0, 0)
    assert probe(started="/usr/bin/python /venv/bin/paraph worker --metrics-port 9") == 0
    told_by(tmp_path, os.getpid()).write_text("the database does not answer")
    assert (probe(), probe("--alive")) == (1, 0)
    os.utime(told_by(tmp_path, os.getpid()), (time.time() - 90,) * 2)
    assert (probe(), probe("--alive")) == (1, 1)


def test_another_worker_of_a_shared_folder_makes_none_healthy(tmp_path: Path, probe: Callable[..., int]) -> None:
    (tmp_path / "alive").mkdir()
    (tmp_path / "alive" / "worker-another.host-7").touch()
    assert (probe(), probe("--alive")) == (1, 1)


def test_the_workers_of_a_service_tell(shared_service: Service) -> None:
    [worker] = [pid for pid in shared_service.processes() if name_of(pid) == "paraph-worker"]
    path = told_by(shared_service.data_dir, worker)
    wait_until(lambda: path.exists() and path.read_text() == "")
    before = path.stat().st_mtime
    wait_until(lambda: path.stat().st_mtime > before)
