"""Children that end when their parent does, however it ended."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def following_parent(number: signal.Signals = signal.SIGKILL) -> Callable[[], None]:
    """A function to call first thing in a forked child: from then on the kernel sends it ``number`` when the
    thread that forked it ends. Called here, in the parent, so that the child loads nothing.

    Elsewhere than on Linux it does nothing: a supervisor that is killed there leaves children to be ended by hand.
    """
    if sys.platform != "linux":
        return lambda: None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def follow() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:  # it ended between the fork and the line above
            os.kill(os.getpid(), number)

    return follow
