"""A pool of processes that parse untrusted PDFs, reused from job to job, with hard limits.

A process that dies, hangs or exceeds a limit is replaced, and its file refused if it is at fault
(:mod:`paraph.pdf.untrusted.sandbox_process`). The service parses no byte of the file. Thread-safe; a forked process
starts its own pool. Parties share the processes fairly.
"""

import atexit
import json
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Any, BinaryIO

from paraph.kernel import machine
from paraph.kernel.places import FairSemaphore, NoPlaceError, Told, expensive_work
from paraph.pdf.refusal import PdfRefused, ReadersUnavailable, too_complex
from paraph.pdf.untrusted.sandbox_process import Program, SandboxLimits, Workers
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_KEPT_SECONDS = 600.0
_MOST_KEPT = 1000
_ANSWER_SECONDS = 8.0  # to wait for the answer to an identical call
__all__ = ["Sandbox", "SandboxLimits", "configure", "sandbox", "verification_sandbox"]
Pdf = bytes | BinaryIO | Callable[[], bytes]
Files = list[bytes | BinaryIO]
VERIFICATION_LIMITS = SandboxLimits(memory=320 << 20, processor_seconds=8, resident=128 << 20)
"""With what the processes on both sides need themselves, a verification takes at most 512 MB and 10 seconds."""
_log = logging.getLogger(__name__)
_CROWD = 1000  # threads that wait for a process: callers bound their own
_lock = threading.Lock()


class SandboxAnswers:
    """Shared answers of one process; thread-safe. A question is the tenant (no tenant learns about another's files),
    the job with its arguments, and the file's digest."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, tuple[float, JobAnswer | PdfRefused]] = OrderedDict()
        self._pending: dict[Hashable, Future[JobAnswer]] = {}

    def recall(self, question: Hashable) -> JobAnswer | None:
        """Return what was kept of the question in the last ten minutes, or raise it again, if it was a refusal."""
        with self._lock:
            since, kept = self._kept.get(question, (0.0, None))
        if kept is None or time.monotonic() - since >= _KEPT_SECONDS:
            return None
        if isinstance(kept, PdfRefused):
            raise _again(kept)
        return kept

    def keep(self, question: Hashable, answer: JobAnswer | PdfRefused) -> None:
        """Keep an answer, which nobody may change, or a refusal."""
        with self._lock:
            self._kept[question] = (time.monotonic(), answer)
            self._kept.move_to_end(question)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)

    def answer(self, question: Hashable, find: Callable[[], JobAnswer]) -> JobAnswer:
        """Return or raise what ``find`` does; if another thread is asking the same, wait for its outcome. Raise
        ReadersUnavailable if that takes too long."""
        with self._lock:
            other = self._pending.get(question)
            if not other:
                self._pending[question] = Future()
        if other:
            return _shared(other)
        try:
            answer = find()
        except BaseException as error:
            if isinstance(error, PdfRefused) and error.reason == too_complex().reason:  # others are cheap
                self.keep(question, _again(error))
            self._settle(question).set_exception(error)
            raise
        self._settle(question).set_result(answer)
        return answer

    def _settle(self, question: Hashable) -> Future[JobAnswer]:
        with self._lock:
            return self._pending.pop(question)


def _shared(other: Future[JobAnswer]) -> JobAnswer:
    try:
        return other.result(_ANSWER_SECONDS)
    except PdfRefused as refused:
        raise _again(refused) from None
    except (ReadersUnavailable, TimeoutError):
        raise ReadersUnavailable from None


def _again(refused: PdfRefused) -> PdfRefused:
    return PdfRefused(refused.reason, refused.message, refused.facts)


logging.getLogger(__package__).addHandler(logging.NullHandler())  # who sets up no log is told by the refusal alone


class Sandbox:
    """A pool of at most ``size`` processes, started on demand. No tenant gets more than half of them at a time
    (:class:`paraph.kernel.places.FairSemaphore`, also on ``told``)."""

    def __init__(
        self,
        size: int,
        limits: SandboxLimits | None = None,
        told: Told | None = None,
        *,
        program: Program = "worker",
    ) -> None:
        self._places = FairSemaphore(size, _CROWD, _CROWD, told)
        self._answers = SandboxAnswers()
        self.spent = 0.0  # processor seconds of all jobs so far
        self._workers = Workers(size, limits or SandboxLimits(), program)

    def call(
        self,
        job: str,
        pdf: Pdf | Files,
        *,
        tenant_key: str = "",
        sha256: bytes = b"",
        patience: float = 1,
        keep: bool = False,
        **arguments: Any,
    ) -> JobAnswer:
        """Run ``job`` on a file, or on several, and return its answer: JSON and bytes.

        An open file is read whole, whatever its position, and must not change meanwhile; a function is called for the
        file when its turn comes. ``tenant_key``: on whose behalf the file is read. ``sha256``: the file's digest if
        known; a file that was too complex is then refused at once for a while, and simultaneous identical calls share
        one answer. ``patience`` multiplies the usual time limits. ``keep``: the answer is small, and found again by the
        same call for a while.

        Raise PdfRefused with the reason that the job gave, or ``too_complex`` if the process was lost by fault of the
        file. Raise ReadersUnavailable if it was lost otherwise, could not be started, or none was free within seconds.
        """
        request = {"job": job, "arguments": arguments, "patience": patience}
        question = (tenant_key, sha256, json.dumps(request)) if sha256 else None
        if question and (kept := self._answers.recall(question)):
            return kept
        try:
            with expensive_work(tenant_key):
                if not question:
                    return self._read(request, pdf, tenant_key)
                answer = self._answers.answer(question, lambda: self._read(request, pdf, tenant_key))
        except NoPlaceError:
            raise ReadersUnavailable from None
        if keep:
            self._answers.keep(question, answer)
        return answer

    def _read(self, request: dict[str, Any], pdf: Pdf | Files, tenant_key: str) -> JobAnswer:
        with self._places.place(tenant_key), self._workers.one(tenant_key) as worker:
            files = pdf if isinstance(pdf, list) else [pdf() if callable(pdf) else pdf]
            worker.confinement()  # waits for the start, which is no part of the job
            before = worker.used.processor
            try:
                message, content = worker.ask(request, files)
            finally:
                self.spent += max(0.0, worker.used.processor - before)
        if "refused" in message:
            raise PdfRefused(*message["refused"])
        if "fault" in message:
            _log.warning("a PDF was refused after a fault in the %s job:\n%s", request["job"], message["fault"])
            raise PdfRefused("unreadable", "The file cannot be read as a PDF.")
        return message["result"], content

    def warm(self) -> None:
        """Start a process now, unless one was before, so that the first call need not wait for it. Raise
        ReadersUnavailable."""
        if not self._workers.begun:
            with self._workers.one():
                pass

    def close(self) -> None:
        """End all processes; the pool is unusable afterwards."""
        self._workers.close()


_pools: dict[Program, Sandbox] = {}
"""Of this process, by what their processes run."""


def sandbox() -> Sandbox:
    """Return the pool of this process, with two sandboxed processes per core, one for one tenant, unless
    :func:`configure` was called."""
    return _pool("worker", 2 * machine.cores(), None)


def verification_sandbox() -> Sandbox:
    """Return the pool of this process for verification, of :data:`VERIFICATION_LIMITS`. It is separate, so that no
    upload has been read by a process whose verdict is to be trusted."""
    return _pool("verifying_worker", machine.cores() + 1, VERIFICATION_LIMITS)


def _pool(program: Program, size: int, limits: SandboxLimits | None) -> Sandbox:
    with _lock:
        if program not in _pools:
            _pools[program] = Sandbox(size, limits, program=program)
        return _pools[program]


def configure(size: int, limits: SandboxLimits | None = None, told: Told | None = None) -> Sandbox:
    """Replace the pool of this process, for example to share a machine among several web processes."""
    pool = Sandbox(size, limits, told)
    with _lock:
        replaced, _pools["worker"] = _pools.get("worker"), pool
    if replaced:
        replaced.close()
    return pool


@atexit.register
def _end_pools() -> None:
    with _lock:
        pools = list(_pools.values())
        _pools.clear()
    for pool in pools:
        pool.close()


_of_parent: list[dict[Program, Sandbox]] = []  # kept alive, so that no finalizer ends the parent's processes


def _forget_after_fork() -> None:
    global _pools, _lock
    _of_parent.append(_pools)
    _pools, _lock = {}, threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
