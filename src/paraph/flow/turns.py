"""Turns at a gateway that is asked within HTTP requests, so that one that hangs does not take every thread."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Turns:
    """At most ``places`` threads at a time. Who finds none free waits for as long as the gateway seems well: none of
    those that are there has been for ``patience`` seconds, and neither has who waits."""

    def __init__(self, places: int, patience: float) -> None:
        self._places = places
        self._patience = patience
        self._changed = Condition()
        self._began: dict[object, float] = {}

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """Whether there was a place; the block runs either way."""
        me = object()
        with self._changed:
            mine = self._wait()
            if mine:
                self._began[me] = time.monotonic()
        try:
            yield mine
        finally:
            if mine:
                with self._changed:
                    del self._began[me]
                    self._changed.notify_all()

    def _wait(self) -> bool:
        came = time.monotonic()
        while len(self._began) >= self._places:
            left = min(came, *self._began.values()) + self._patience - time.monotonic()
            if left <= 0:
                return False
            self._changed.wait(left)
        return True
