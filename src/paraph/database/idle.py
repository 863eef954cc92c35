"""Giving back what is idle: a session of PostgreSQL that its thread has not used for a while.

A thread keeps its connection from one request to the next. Behind a pooler that keeps sessions, each such connection
has one of the pooler's few, also while its thread does nothing; whoever waits for one would wait for ever.
"""

import threading
import time
from typing import Any
from weakref import WeakSet

SECONDS = 10.0

_guard = threading.Lock()
_leases: "WeakSet[Lease]" = WeakSet()
is_given_back = threading.Event()
"""Set where connections that rest are closed in the end, so that others than their threads may keep them."""


class Lease:
    """Of the thread that owns a connection: whether the thread is at work on it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Any = None
        self._rests_since = 0.0

    def take(self) -> None:
        """Begin the work of the thread, which has to look first whether the connection was given back."""
        with self._lock:
            self._connection = None

    def rest(self, connection: Any) -> None:
        """End the work of the thread, until it takes the connection again."""
        with self._lock:
            self._connection, self._rests_since = connection, time.monotonic()
        with _guard:
            _leases.add(self)

    def give_back(self, seconds: float) -> bool:
        """Close the connection where it has rested for so long. Return whether it did."""
        with self._lock:
            if self._connection is None or time.monotonic() - self._rests_since < seconds:
                return False
            connection, self._connection = self._connection, None
            connection.close()
            return True


def give_back(seconds: float = 0.0) -> int:
    """Close the connections of this process that have rested for so long, and return their number."""
    with _guard:
        leases = list(_leases)
    return sum([lease.give_back(seconds) for lease in leases])


def give_back_from_now_on() -> None:
    """Close connections that have rested for 10 s, in this process until it ends."""
    is_given_back.set()
    threading.Thread(target=_repeat, name="idle sessions", daemon=True).start()


def _repeat() -> None:
    while True:
        time.sleep(SECONDS / 4)
        give_back(SECONDS)
