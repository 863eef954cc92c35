"""Restarting a database server that has ended, however often that fails."""

import time
from collections.abc import Callable

from paraph.kernel.errors import DomainError
from paraph.postgres.server import Server

_STEADY_SECONDS = 5
_FIRST_DELAY, _LONGEST_DELAY = 0.1, 10.0


class Keeper:
    """Watch a server that was started before. A server that ran for 5 s is launched again at once, any other after a
    delay that grows to 10 s, since it may be killed during recovery or find the disk full. ``say`` gets warnings."""

    def __init__(self, server: Server, say: Callable[[str], object]) -> None:
        self._server = server
        self._say = say
        self._launched = 0.0
        self._failures = 0
        self._due: float | None = None

    def look(self) -> None:
        """Launch the server if it has ended and its delay is over. Never waits; call it repeatedly, from the thread
        that started the server."""
        now = time.monotonic()
        if self._server.poll() is None:
            self._server.trim_log()
        elif self._due is None:
            self._failures = 0 if now - self._launched > _STEADY_SECONDS else self._failures + 1
            delay = min(_FIRST_DELAY * 2**self._failures, _LONGEST_DELAY) if self._failures else 0
            self._due = now + delay
            words = f" The last it said: {self._server.last_words()}" if self._failures else ""
            self._say(f"PostgreSQL ended; starting it again{f' in {delay:.1f} s' if delay else ''}.{words}")
        if self._due is not None and now >= self._due:
            self._due, self._launched = None, now
            self._launch()

    def _launch(self) -> None:
        try:
            self._server.launch()
        except (DomainError, OSError) as error:
            self._say(f"PostgreSQL could not be started: {error}")
