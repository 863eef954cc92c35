"""Child processes: forked, kept alive, and stopped in order.

The parent has imported everything and opened nothing, so that its children start at once and share its memory. Nothing
here may start a thread: a fork would copy the locks that it holds.
"""

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType

import structlog

from paraph.database.outage import refusal_sentence
from paraph.kernel.errors import DomainError
from paraph.kernel.machine import follow_parent, name_process

_TICK_SECONDS = 1.0
_STEADY_SECONDS = 5
_FIRST_DELAY, _LONGEST_DELAY = 0.1, 10.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

log = structlog.get_logger("paraph.serve")


def fork(name: str, run: Callable[[], object]) -> int:
    """Run the function in a child process named ``paraph-<name>`` and return its process id. The child is killed when
    this process ends. Its exit status is 0, or 1 after a :class:`DomainError`, whose sentence goes to stderr, or 70
    after a logged fault."""
    parent = os.getpid()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 70
    try:
        signal.set_wakeup_fd(-1)
        for number in (*_SIGNALS, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        follow_parent(parent)
        name_process(f"paraph-{name}")
        os.setsid()  # Ctrl-C is for the supervisor, which stops its children in order
        run()
        status = 0
    except DomainError as refusal:
        sys.stderr.write(f"{refusal.message}\n")
        status = 1
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException as error:
        if sentence := refusal_sentence(error):
            sys.stderr.write(f"{sentence}\n")
            status = 1
        else:
            log.exception("a child process failed")
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


@dataclass
class Child:
    """A supervised process. ``grace``: seconds that it has to end after SIGTERM. ``began``: its latest start;
    ``due``: its next start once it has ended, both on the monotonic clock."""

    name: str
    run: Callable[[], None]
    grace: float
    pid: int = 0
    began: float = 0.0
    failures: int = 0
    due: float = 0.0


class Supervisor:
    """Keep children running. ``children`` are stopped in the given order, those of one name together. ``each_tick`` is
    called at least once a second and may raise :class:`DomainError` to end the service."""

    def __init__(self, children: list[Child], each_tick: Callable[[], None]) -> None:
        self._children = children
        self._each_tick = each_tick
        self._asked_to_stop = 0
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Notice signals to stop from here on, even before :meth:`run` is called."""
        for number in _SIGNALS:
            signal.signal(number, self._ask_to_stop)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler, so that the signal wakes the loop
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(-1)

    @property
    def stopping(self) -> bool:
        return self._asked_to_stop > 0

    def run(self, *, until: Callable[[], bool] | None = None) -> None:
        """Keep the children running until a signal to stop, or until ``until``, called every 20 ms, returns True."""
        while not self.stopping and not (until and until()):
            self._each_tick()
            for child in self._children:
                self._keep_running(child)
            self._sleep(0.02 if until else self._next_tick())

    def stop(self) -> None:
        """Send SIGTERM to each group of children, and SIGKILL after its grace or at a second signal to stop."""
        for name in dict.fromkeys(child.name for child in self._children):
            group = [child for child in self._children if child.name == name and child.pid]
            for child in group:
                _signal(child.pid, signal.SIGTERM)
            deadline = time.monotonic() + max((child.grace for child in group), default=0)
            while any(child.pid and self._reap(child) is None for child in group):
                if time.monotonic() > deadline or self._asked_to_stop > 1:
                    for child in group:
                        if child.pid:
                            log.warning("killing a child that does not end", child=child.name, pid=child.pid)
                            _signal(child.pid, signal.SIGKILL)
                    deadline = float("inf")
                self._sleep(0.1)

    def _keep_running(self, child: Child) -> None:
        if child.pid:
            status = self._reap(child)
            if status is None:
                return
            lived = time.monotonic() - child.began
            child.failures = 0 if lived > _STEADY_SECONDS else child.failures + 1
            delay = min(_FIRST_DELAY * 2 ** min(child.failures, 10), _LONGEST_DELAY)  # failures may be thousands
            child.due = time.monotonic() + delay
            log.error("a child process ended", child=child.name, status=status, again_in_seconds=round(delay, 1))
        if time.monotonic() >= child.due:
            child.began = time.monotonic()
            child.pid = fork(child.name, lambda: _run(child))

    def _reap(self, child: Child) -> int | None:
        """Return the exit status of the child, negative for a signal; None while it runs."""
        pid, status = os.waitpid(child.pid, os.WNOHANG)
        if not pid:
            return None
        child.pid = 0
        return os.waitstatus_to_exitcode(status)

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002  the form of handlers
        self._asked_to_stop += 1

    def _next_tick(self) -> float:
        """Return how many seconds to wait: a tick, or less if a child is due before that."""
        due = [child.due - time.monotonic() for child in self._children if not child.pid]
        return max(0.0, min([_TICK_SECONDS, *due]))

    def _sleep(self, seconds: float) -> None:
        select.select([self._wake_read], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 4096)


def _run(child: Child) -> None:
    """Log a :class:`DomainError`: a running service writes all its faults to the log, in one form."""
    try:
        child.run()
    except DomainError as refusal:
        log.error("a child process cannot go on", child=child.name, cause=refusal.message)
        sys.exit(1)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
