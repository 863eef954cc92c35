"""Child processes: their end when the parent ends, their name, and the start of the service."""

import ctypes
import os
import signal
import sys
import time

SERVICE_BEGAN = time.monotonic()
"""Monotonic time at which the first process of this service started; forked processes share it."""
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


def follow_parent(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel send the signal ``number`` to this process when the thread that forked it ends. To be called
    first in a child of the process ``parent``.

    Does nothing on systems other than Linux, where a killed supervisor leaves its children running.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before the line above
        os.kill(os.getpid(), number)


def name_process(name: str) -> None:
    """Set the name that ``ps`` and ``top`` show, cut to 15 bytes. Does nothing on systems other than Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0)
