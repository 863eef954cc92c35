"""Deciding whether a file or the machine is at fault when a sandboxed process is lost.

A file is at fault if the process used much of its limits or ended by itself. A process that was killed from outside, or
starved of processor time, says nothing about the file.
"""

import contextlib
import os
import resource
import signal
import subprocess
import sys
from typing import NamedTuple

_MOST = 0.5  # of a limit; a sound file uses less than a tenth
_FROM_OUTSIDE = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, -signal.SIGQUIT}
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


class ResourcesUsed(NamedTuple):
    """What a process has used in its life: ``processor`` in seconds, peak memory in bytes."""

    processor: float = 0.0
    peak: int = 0

    @classmethod
    def of(cls, usage: resource.struct_rusage) -> "ResourcesUsed":
        return cls(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _MAXRSS_UNIT)


class ProcessEnd(NamedTuple):
    """``status`` as in :attr:`subprocess.Popen.returncode`: negative for a signal."""

    status: int
    used: ResourcesUsed


def kill(process: subprocess.Popen[bytes]) -> ProcessEnd:
    """End and reap the process. ``Popen.kill`` may reap it itself, which would lose its resource usage."""
    used = ResourcesUsed()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            used = ResourcesUsed.of(usage)
    return ProcessEnd(process.wait(), used)


def file_at_fault(end: ProcessEnd, before: ResourcesUsed, *, processor_seconds: float, memory: int) -> bool:
    """Return whether the file caused the end, given the usage ``before`` the job and the limits of the job. The
    kernel's out-of-memory killer uses the same signal as an operator, so much memory counts against the file."""
    if end.used.processor - before.processor >= _MOST * processor_seconds:
        return True
    if end.used.peak > before.peak and end.used.peak >= _MOST * memory:
        return True
    return end.status not in _FROM_OUTSIDE
