"""What a sandboxed process has used of a processor, and how it is put behind all others."""

import contextlib
import os
import sys
from pathlib import Path


def processor_seconds(process: int) -> float:
    """In its life so far; 0 where the system does not tell, or the process has gone."""
    try:
        state = Path(f"/proc/{process}/stat").read_bytes()
        user, system = state.rpartition(b")")[2].split()[11:13]  # proc_pid_stat(5): utime and stime
    except (OSError, ValueError):
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def come_last(process: int) -> None:
    """It runs from now on where processors have nothing else to do (SCHED_IDLE, or the lowest priority there is). It
    needs no privilege; without one, no way leads back. Does nothing where the system does not allow it."""
    with contextlib.suppress(OSError):
        if sys.platform == "linux":
            os.sched_setscheduler(process, os.SCHED_IDLE, os.sched_param(0))
        else:
            os.setpriority(os.PRIO_PROCESS, process, 19)
