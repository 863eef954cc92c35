"""What a sandboxed process has used of a processor, and how it is put behind all others.

Many kernels deal processors out by session before they look at priorities (autogroup, sched(7)): within its session a
process of the lowest priority waits for the others, and the session still has as much as any other one, such as the
database's. So each sandboxed process is a session of its own, and where it comes last, its session does.
"""

import contextlib
import os
import sys
import time
from io import FileIO
from pathlib import Path

_LOWEST = 19
_PAUSE = 0.1  # seconds in which the system lets accounts other than root set one session's part
_TRIES = 5


class SandboxPriority:
    """The priority of a process that leads its session. To be made by its parent as soon as it runs: later, the
    process is confined and its files in ``/proc`` are out of reach. Needs no privilege; without one, no way leads back
    from the lowest. Does nothing where the system does not allow it."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._session: FileIO | None = None
        with contextlib.suppress(OSError):  # no Linux, or a kernel that knows no such thing
            self._session = FileIO(f"/proc/{process}/autogroup", "wb")

    def come_last(self) -> None:
        """Run it from now on where processors have nothing else to do (SCHED_IDLE, or the lowest priority)."""
        with contextlib.suppress(OSError):
            if sys.platform == "linux":
                os.sched_setscheduler(self._process, os.SCHED_IDLE, os.sched_param(0))
            else:
                os.setpriority(os.PRIO_PROCESS, self._process, _LOWEST)
        self._session_comes_last()

    def close(self) -> None:
        if self._session:
            self._session.close()
            self._session = None

    def _session_comes_last(self) -> None:
        with contextlib.suppress(OSError):  # it has gone
            for _ in range(_TRIES):
                if not self._session or self._session.write(b"%d" % _LOWEST):
                    return
                time.sleep(_PAUSE)


def processor_seconds(process: int) -> float:
    """In its life so far; 0 where the system does not tell, or the process has gone."""
    try:
        state = Path(f"/proc/{process}/stat").read_bytes()
        user, system = state.rpartition(b")")[2].split()[11:13]  # proc_pid_stat(5): utime and stime
    except (OSError, ValueError):
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
