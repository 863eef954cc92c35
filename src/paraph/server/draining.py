"""Whether this web server is about to end: then ``/readyz`` says 503 while requests are still served, so that a load
balancer sends the next ones elsewhere before the listener closes."""

import mmap
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

_flag = mmap.mmap(-1, 1)  # shared with the processes that are forked later


def is_draining() -> bool:
    return _flag[0] == 1


def drain_before_end(seconds: int) -> None:
    """Has SIGTERM say first that the server ends, and end it ``seconds`` later by the handler that there was. A second
    SIGTERM ends it at once. To be called in the main thread of the process that gets the signal."""
    end: Any = signal.getsignal(signal.SIGTERM)

    def drain(number: int, frame: FrameType | None) -> None:
        if is_draining():
            end(number, frame)
            return
        _flag[0] = 1
        signal.setitimer(signal.ITIMER_REAL, seconds)

    signal.signal(signal.SIGALRM, _as_sigterm(end))
    signal.signal(signal.SIGTERM, drain)


def _as_sigterm(end: Callable[..., Any]) -> Callable[[int, FrameType | None], None]:
    return lambda _number, frame: end(signal.SIGTERM, frame)
