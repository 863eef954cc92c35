"""The processes of a pool, and their confinement."""

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
    """Started when first needed; at most ``size`` are kept. Thread-safe."""

    def __init__(self, size: int, limits: SandboxLimits, program: Program) -> None:
        self._new = partial(SandboxProcess, limits, program)
        self._idle: list[SandboxProcess] = []
        self._most = size
        self._closed = False
        self._spoilt_by = ""
        self._lock = Lock()
        # The kernel ends a process with the THREAD that started it, so one thread that stays starts them all.
        self._starter = ThreadPoolExecutor(1, "pdf-sandbox")

    @contextlib.contextmanager
    def one(self, tenant_key: str = "") -> Iterator[SandboxProcess]:
        """For the block; the one that was used last of those that are idle, but for the tenant that spoilt one last:
        it waits for the start of what replaces it. Raise ReadersUnavailable where none can be started."""
        worker = self._taken(0 if tenant_key and tenant_key == self._spoilt_by else -1) or self._started()
        try:
            yield worker
        finally:
            self._put_back(worker, tenant_key)

    def close(self) -> None:
        """End them, those in use after it. No other can be started."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()
        self._starter.shutdown()

    def _taken(self, index: int) -> SandboxProcess | None:
        while True:
            with self._lock:
                worker = self._idle.pop(index) if self._idle else None
            if not worker or worker.usable:
                return worker
            worker.end()

    def _put_back(self, worker: SandboxProcess, tenant_key: str) -> None:
        """Return the worker to the pool; replace it if unusable."""
        usable = worker.usable
        self._keep(worker)
        if not usable and not self._closed:
            self._spoilt_by = tenant_key
            with contextlib.suppress(ReadersUnavailable):  # the next call tries
                self._keep(self._started(), last=True)

    def _keep(self, worker: SandboxProcess, *, last: bool = False) -> None:
        """``last``: it is to be used after all others, which have started by now."""
        with self._lock:
            if worker.usable and not self._closed and len(self._idle) < self._most:
                self._idle.insert(0 if last else len(self._idle), worker)
                return
        worker.end()

    def _started(self) -> SandboxProcess:
        try:
            return self._starter.submit(self._new).result()
        except (OSError, RuntimeError) as error:  # no process or no thread now
            _log.error("no process to read PDFs can be started: %r", error)
            raise ReadersUnavailable from error


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
