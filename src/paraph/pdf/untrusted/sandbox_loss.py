"""Whose fault it is that a sandboxed process was lost over a file: the file's, or that of the service and its machine.

A file is at fault when the process took most of what it was granted, or ended by itself. A process that somebody
else killed, or that stood still while others had the processor, says nothing about the file.
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
    """What a process has used in its life: ``processor`` in seconds, ``peak`` in bytes of memory."""

    processor: float = 0.0
    peak: int = 0

    @classmethod
    def of(cls, usage: resource.struct_rusage) -> "ResourcesUsed":
        return cls(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _MAXRSS_UNIT)


class ProcessEnd(NamedTuple):
    """``status`` as ``subprocess`` tells it: negative for the signal that ended the process."""

    status: int
    used: ResourcesUsed


def kill(process: subprocess.Popen[bytes]) -> ProcessEnd:
    """Ends the process unless it has ended, and takes it from the process table.

    Not by ``Popen.kill``, which may wait for the process and so lose what it used.
    """
    used = ResourcesUsed()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            used = ResourcesUsed.of(usage)
    return ProcessEnd(process.wait(), used)


def file_at_fault(end: ProcessEnd, before: ResourcesUsed, *, processor_seconds: float, memory: int) -> bool:
    """Whether the file is why the process ended, given what was used ``before`` the job and what it was granted.

    The kernel kills with the same signal as an operator, so a process that had taken much memory was a bomb's.
    """
    if end.used.processor - before.processor >= _MOST * processor_seconds:
        return True
    if end.used.peak > before.peak and end.used.peak >= _MOST * memory:
        return True
    return end.status not in _FROM_OUTSIDE
