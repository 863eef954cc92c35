"""The sandboxed processes as the kernel sees them."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from paraph.pdf.untrusted.sandbox import Sandbox
from tests.pdf.pdf_factory import paper, text

PDF = paper(text("a", 100, 300))


def worker_of(pool: Sandbox) -> int:
    """The process id of the one worker, once it answers."""
    pool.warm()
    pool.call("find", PDF, tags=[])
    [worker] = pool._workers._idle
    return worker._process.pid


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):  # the thread has ended since it was listed
        return ""


def children() -> set[int]:
    listed = (_read(path).split() for path in Path("/proc/self/task").glob("*/children"))
    return {int(child) for line in listed for child in line}


def stopped(pool: Sandbox) -> int:
    """Stop the one worker, as a machine too busy to run it would, and return its process id."""
    worker = worker_of(pool)
    os.kill(worker, signal.SIGSTOP)
    return worker


def eventually(condition: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def processor_time(process: int) -> float:
    """Return the processor time that a process has used, in seconds."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
