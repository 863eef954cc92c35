"""The processes of a pool: those that work like others, and those that all others come before; their confinement."""

import contextlib
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from threading import Lock

from paraph.confinement import Confinement
from paraph.pdf.refusal import ReadersUnavailable
from paraph.pdf.untrusted.sandbox_process import Program, SandboxLimits, SandboxProcess

_log = logging.getLogger(__name__)


class Workers:
    """Started when first needed. At most ``size`` are kept, and half as many that come last. Thread-safe."""

    def __init__(self, size: int, limits: SandboxLimits, program: Program) -> None:
        self._new = partial(SandboxProcess, limits, program)
        self._idle: dict[bool, list[SandboxProcess]] = {False: [], True: []}  # by whether they come last
        self._most = {False: size, True: max(1, size // 2)}
        self._closed = False
        self._lock = Lock()
        # The kernel ends a process with the THREAD that started it, so one thread that stays starts them all.
        self._starter = ThreadPoolExecutor(1, "pdf-sandbox")

    @contextlib.contextmanager
    def one(self, *, last: bool = False) -> Iterator[SandboxProcess]:
        """For the block; the one that was used last of those that are idle. ``last``: whether all others are to come
        before it. Raise ReadersUnavailable where none can be started."""
        worker = self._taken(last) or self._started(last)
        try:
            yield worker
        finally:
            self._put_back(worker, last)

    def come_last(self, worker: SandboxProcess) -> None:
        """Let all others come before the worker from now on, and start one that they can use in its stead."""
        worker.come_last()
        with contextlib.suppress(RuntimeError):  # they are being closed
            self._starter.submit(self._start_another)

    def close(self) -> None:
        """End them, those in use after it. No other can be started."""
        with self._lock:
            self._closed = True
            idle = [worker for kind in self._idle.values() for worker in kind]
            self._idle = {False: [], True: []}
        for worker in idle:
            worker.end()
        self._starter.shutdown()

    def _taken(self, last: bool) -> SandboxProcess | None:
        while True:
            with self._lock:
                worker = self._idle[last].pop() if self._idle[last] else None
            if not worker or worker.usable:
                return worker
            worker.end()

    def _put_back(self, worker: SandboxProcess, last: bool) -> None:
        """Return the worker to the pool; replace it if unusable, unless it came last meanwhile and was replaced."""
        usable = worker.usable
        self._keep(worker)
        if not usable and worker.last == last and not self._closed:
            with contextlib.suppress(ReadersUnavailable):  # the next call tries
                self._keep(self._started(last))

    def _keep(self, worker: SandboxProcess) -> None:
        with self._lock:
            idle = self._idle[worker.last]
            if worker.usable and not self._closed and len(idle) < self._most[worker.last]:
                idle.append(worker)
                return
        worker.end()

    def _start_another(self) -> None:
        try:
            self._keep(self._new())
        except OSError as error:
            _log.error("no process to read PDFs can be started: %r", error)

    def _started(self, last: bool) -> SandboxProcess:
        try:
            worker = self._starter.submit(self._new).result()
        except (OSError, RuntimeError) as error:  # no process or no thread now
            _log.error("no process to read PDFs can be started: %r", error)
            raise ReadersUnavailable from error
        if last:
            worker.come_last()
        return worker


@cache
def sandbox_confinement() -> Confinement:
    """Return it, as told by a process started for that once: the kernel stays the same. Raise ReadersUnavailable if
    none can be started."""
    try:
        worker = SandboxProcess(SandboxLimits())
    except OSError as error:
        raise ReadersUnavailable from error
    try:
        return worker.confinement()
    finally:
        worker.end()
