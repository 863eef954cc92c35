"""Nobody keeps a thread by sending slowly (docs/decisions/slow-bodies.md).

The server reads a body in the thread of its request, without a limit of time, and does not tell which connection it
comes from. So while bodies are waited for, this looks at the connections of the process: one that has owed the rest of
a request for too long, by what the kernel has counted, is closed for reading. The thread then goes on with what it
has, and its answer still leaves. Linux only; elsewhere slow clients are waited for.
"""

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings

from paraph.web.connections import Connection, connections_to

log = logging.getLogger("paraph.web")

RATE = 64 * 1024  # bytes a second that a body must bring on average, after its first seconds
GRACE = 1.0  # seconds that any body may keep its thread waiting; at most half of the threads wait for longer
_EVERY = 0.25
_TICK = 0.02  # seconds within which the kernel's clock, and what it takes to ask, leave the order open


@dataclass(frozen=True, eq=False)
class Wait:
    """A read under way. ``answered``: when the answer left, of a body that is let in only to be thrown away."""

    began: float
    answered: float = 0


_waits: dict[int, Wait] = {}  # both by thread
_working: dict[int, float] = {}
_some_wait = threading.Event()
_threads: list[threading.Thread] = []


@contextlib.contextmanager
def waiting(answered: float = 0) -> Iterator[None]:
    """While this thread reads from its client."""
    thread = threading.get_ident()
    _waits[thread] = Wait(time.monotonic(), answered)
    if not _some_wait.is_set():
        _some_wait.set()
        _start()
    try:
        yield
    finally:
        del _waits[thread]


@contextlib.contextmanager
def working() -> Iterator[None]:
    """While this thread answers a request."""
    thread = threading.get_ident()
    _working[thread] = time.monotonic()
    try:
        yield
    finally:
        del _working[thread]


def _start() -> None:
    if sys.platform == "linux" and not _threads:
        _threads.append(threading.Thread(target=Watch().run, name="slow-clients", daemon=True))
        _threads[0].start()


@dataclass(frozen=True)
class _Debt:
    """Since when a connection owes the rest of a request, and what it had received by then."""

    since: float
    received: int


class Watch:
    """Looks again and again; what it saw before tells how long a connection owes."""

    def __init__(self) -> None:
        self._debts: dict[str, _Debt] = {}
        self._closed: set[str] = set()  # for reading; they go when they are answered

    def run(self) -> None:
        while True:
            _some_wait.wait()
            time.sleep(_EVERY)
            now, waits = time.monotonic(), list(_waits.values())
            if any(now - wait.began >= GRACE / 2 for wait in waits):
                try:
                    self.look(waits, now)
                except Exception:  # whatever this system does not tell; slow clients are waited for then
                    log.exception("slow clients cannot be told from others on this system")
                    return
            elif not waits:
                self._debts = {}
                _some_wait.clear()
                if _waits:  # one came in between
                    _some_wait.set()

    def look(self, waits: Sequence[Wait], now: float) -> None:
        with connections_to(settings.PARAPH.port) as everybody:
            self._closed &= {each.name for each in everybody}
            connections = [each for each in everybody if each.name not in self._closed]
            self._debts = {each.name: self._debt(each, now) for each in connections if each.owes}
            for each in [*self._slow(connections, waits, now), *_left_behind(connections, waits, now)]:
                each.close_for_reading()
                self._closed.add(each.name)

    def _debt(self, connection: Connection, now: float) -> _Debt:
        return self._debts.get(connection.name) or _Debt(now - connection.silent, connection.received)

    def _slow(self, connections: Sequence[Connection], waits: Sequence[Wait], now: float) -> list[Connection]:
        """Those whose time is over; else, where more than half of the threads wait, as many as are too many. Requests
        are begun in the order in which they came, so the oldest are those that keep the threads; of those that came
        within one tick of the kernel's clock, who has brought most: a question without a body is short."""
        debtors = [each for each in connections if each.owes and self._behind(each, now, GRACE)]
        debtors.sort(key=lambda each: (not each.surely, round(self._since(each) / _TICK), -each.received))
        patience, places = settings.PARAPH.body_seconds, max(1, settings.PARAPH.web_threads // 2)
        waited = [now - wait.began for wait in waits]
        over = max(waited) > patience
        late = [each for each in debtors if self._behind(each, now, patience) and (each.surely or over)]
        late = late[: sum(seconds > patience for seconds in waited)]  # the others queue, and may have sent everything
        chosen = late or debtors[: max(0, sum(seconds >= GRACE for seconds in waited) - places)]
        # A long answer looks like a slow question: only who came clearly before all that is worked on is closed.
        at_work = [began for thread, began in _working.copy().items() if thread not in _waits]
        return [each for each in chosen if all(self._since(each) < began - 2 * _EVERY for began in at_work)]

    def _since(self, connection: Connection) -> float:
        return self._debts[connection.name].since

    def _behind(self, connection: Connection, now: float, seconds: float) -> bool:
        """Whether it brought less than its rate, those first seconds aside."""
        debt = self._debts[connection.name]
        return now - debt.since > seconds + (connection.received - debt.received) / RATE


def _left_behind(connections: Sequence[Connection], waits: Sequence[Wait], now: float) -> list[Connection]:
    """Those that were answered before all of their request had come, and send nothing more."""
    over = [wait.answered for wait in waits if wait.answered and now - wait.began >= GRACE]
    return [
        each
        for each in connections
        if not each.owes and each.silent >= GRACE and any(abs(now - each.answered - moment) < _EVERY for moment in over)
    ]


def _forget() -> None:
    """In a forked process there are neither these threads nor these clients."""
    for each in (_waits, _working, _threads):
        each.clear()
    _some_wait.clear()


os.register_at_fork(after_in_child=_forget)
