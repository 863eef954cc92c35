"""A command with all of its children, measured from outside: their memory together, and their processor time."""

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

_EVERY_SECONDS = 0.02
_PATIENCE_SECONDS = 120


class Measured(NamedTuple):
    """How a command ended. ``peak``: memory in bytes; ``processor``: seconds."""

    status: int
    output: str
    errors: str
    peak: int
    processor: float


def measured(*arguments: str | Path) -> Measured:
    """Run ``paraph`` with these arguments; one that hangs is killed."""
    command = [sys.executable, "-m", "paraph", *map(str, arguments)]
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        peak, until = 0, time.monotonic() + _PATIENCE_SECONDS
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            peak = max(peak, _resident(process.pid))
            time.sleep(_EVERY_SECONDS)
            if time.monotonic() > until:
                process.kill()
        _, status, usage = os.wait4(process.pid, 0)  # with the children that it has waited for
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        return Measured(process.returncode, output.read(), errors.read(), peak, usage.ru_utime + usage.ru_stime)


def _resident(process: int) -> int:
    """The memory of a process and its descendants, shared pages counted with each of them."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        listed = [path.read_text().split() for path in Path(f"/proc/{process}/task").glob("*/children")]
    except (FileNotFoundError, ProcessLookupError, IndexError):
        return 0
    own = pages * os.sysconf("SC_PAGE_SIZE")
    return own + sum(_resident(int(child)) for children in listed for child in children)
