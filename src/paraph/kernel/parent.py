"""Children that end when their parent does, however it ended, and have a name."""

import ctypes
import os
import signal
import sys
import time

SERVICE_BEGAN = time.monotonic()
"""When the first process of this service began: those that are forked from it share the moment."""
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


def follow_parent(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """To be called first thing in a forked child of the process ``parent``: from then on the kernel sends it
    ``number`` when the thread that forked it ends.

    Elsewhere than on Linux it does nothing: a supervisor that is killed there leaves children to be ended by hand.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:  # it ended between the fork and the line above
        os.kill(os.getpid(), number)


def name_process(name: str) -> None:
    """What ``ps`` and ``top`` call this process, at most 15 bytes. Only on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0)
