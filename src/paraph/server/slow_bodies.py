"""Clients that send the body of a request too slowly are cut off, so that none keeps a thread
(docs/decisions/slow-bodies.md).

granian reads a body in the thread that answers the request, without a time limit, and does not say which connection it
reads from. So while threads wait for bodies, a thread of its own compares the connections of the process by what the
kernel has counted for each. A connection *owes* when bytes have come from it since it was last answered: the rest of
its request is due. One that has owed for too long is closed for reading. The waiting thread then finds the end of the
body, and its response still leaves. This needs Linux; other systems wait for slow clients.
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

from paraph.server.connections import Connection, connections_to

log = logging.getLogger("paraph.server")

RATE = 64 * 1024  # bytes a second that a body must bring on average, after its first seconds
GRACE = 1.0  # seconds for which every body may keep its thread waiting; only half of the threads wait for longer
_EVERY = 0.25
_TICK = 0.02  # seconds: the kernel's clock does not tell the order of what happened within them


@dataclass(frozen=True, eq=False)
class Wait:
    """A thread that reads from its client. ``answered``: when its response was sent, if it reads only to throw away."""

    began: float
    answered: float = 0


_waits: dict[int, Wait] = {}  # by thread
_working: dict[int, float] = {}  # by thread: when it began its request
_some_wait = threading.Event()
_threads: list[threading.Thread] = []


@contextlib.contextmanager
def waiting(answered: float = 0) -> Iterator[None]:
    """Mark this thread as reading from its client."""
    thread = threading.get_ident()
    _waits[thread] = Wait(time.monotonic(), answered)
    if not _some_wait.is_set():
        _some_wait.set()
        _start()
    try:
        yield
    finally:
        del _waits[thread]


class _Working:
    """Mark the thread as answering a request."""

    def __enter__(self) -> None:
        _working[threading.get_ident()] = time.monotonic()

    def __exit__(self, *_failure: object) -> None:
        del _working[threading.get_ident()]


working = _Working()


def _start() -> None:
    if sys.platform == "linux" and not _threads:
        _threads.append(threading.Thread(target=Watch().run, name="slow-clients", daemon=True))
        _threads[0].start()


@dataclass(frozen=True)
class _Debt:
    """What a connection that owes had sent in all when it began to owe."""

    since: float
    received: int


class Watch:
    """The connections of the process, compared with what they were at the first look at them."""

    def __init__(self) -> None:
        self._debts: dict[str, _Debt] = {}
        self._closed: set[str] = set()  # closed for reading; they end with their response

    def run(self) -> None:
        while True:
            _some_wait.wait()
            time.sleep(_EVERY)
            now, waits = time.monotonic(), list(_waits.values())
            if any(now - wait.began >= GRACE / 2 for wait in waits):
                try:
                    self.look(waits, now)
                except Exception:  # a system that does not tell what is needed waits for slow clients
                    log.exception("slow clients cannot be told from others on this system")
                    return
            elif not waits:
                self._debts = {}
                _some_wait.clear()
                if _waits:  # one began after the list was made
                    _some_wait.set()

    def look(self, waits: Sequence[Wait], now: float) -> None:
        """Close the connections whose time is over. ``waits`` are all threads that read at the moment."""
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
        """Return the connections whose time is over; if there are none, the oldest ones where too many threads wait.

        While a thread works on a response, its connection looks as if it owed, too. So a connection is closed only if
        it began to owe clearly before every request that some thread is working on."""
        debtors = self._debtors(connections, now)
        chosen = self._late(debtors, waits, now) or _surplus(debtors, waits, now)
        at_work = [began for thread, began in _working.copy().items() if thread not in _waits]
        return [each for each in chosen if all(self._since(each) < began - 2 * _EVERY for began in at_work)]

    def _debtors(self, connections: Sequence[Connection], now: float) -> list[Connection]:
        """Return the connections that have owed for longer than GRACE, the oldest debts first: threads begin requests
        in the order of their arrival, so these keep the waiting threads. Of two debts of the same tick, the one that
        has brought more bytes does: a request without a body is short."""
        debtors = [each for each in connections if each.owes and self._behind(each, now, GRACE)]
        return sorted(
            debtors, key=lambda each: (not each.surely_owes, round(self._since(each) / _TICK), -each.received)
        )

    def _late(self, debtors: Sequence[Connection], waits: Sequence[Wait], now: float) -> list[Connection]:
        """Return those that have owed for longer than PARAPH_BODY_SECONDS; no more than threads have waited for as
        long, since the others may have sent everything and be waiting for a thread."""
        patience = settings.PARAPH.body_seconds
        overdue = sum(now - wait.began > patience for wait in waits)
        return [each for each in debtors if self._behind(each, now, patience)][:overdue]

    def _since(self, connection: Connection) -> float:
        return self._debts[connection.name].since

    def _behind(self, connection: Connection, now: float, seconds: float) -> bool:
        """Return whether it has sent less than RATE demands, beyond so many seconds that are free."""
        debt = self._debts[connection.name]
        return now - debt.since > seconds + (connection.received - debt.received) / RATE


def _surplus(debtors: Sequence[Connection], waits: Sequence[Wait], now: float) -> Sequence[Connection]:
    """Return as many of the oldest as threads wait for longer than GRACE beyond half of all threads."""
    allowed = max(1, settings.PARAPH.web_threads // 2)
    return debtors[: max(0, sum(now - wait.began >= GRACE for wait in waits) - allowed)]


def _left_behind(connections: Sequence[Connection], waits: Sequence[Wait], now: float) -> list[Connection]:
    """Return the connections that were answered before the end of their body and have sent nothing since."""
    over = [wait.answered for wait in waits if wait.answered and now - wait.began >= GRACE]
    return [
        each
        for each in connections
        if not each.owes and each.silent >= GRACE and any(abs(now - each.answered - moment) < _EVERY for moment in over)
    ]


def _forget() -> None:
    """Forget the threads and connections of the parent, which a forked process does not have."""
    for each in (_waits, _working, _threads):
        each.clear()
    _some_wait.clear()


os.register_at_fork(after_in_child=_forget)
