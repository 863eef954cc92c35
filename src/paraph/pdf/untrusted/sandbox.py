"""A pool of processes that parse untrusted PDFs, reused from job to job, with hard limits.

A process that dies, hangs or exceeds a limit is replaced, and its file refused if it is at fault
(:mod:`paraph.pdf.untrusted.sandbox_loss`). The service parses no byte of the file. Thread-safe; a forked process starts
its own pool. Parties share the processes fairly.
"""

import atexit
import json
import logging
import os
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from paraph.kernel import machine
from paraph.kernel.places import Places, Told, Visit
from paraph.kernel.waiting import waiting
from paraph.pdf.refusal import PdfRefused, ReadersUnavailable
from paraph.pdf.untrusted.sandbox_answers import SandboxAnswers
from paraph.pdf.untrusted.sandbox_process import SandboxLimits, SandboxProcess
from paraph.pdf.untrusted.sandbox_wire import JobAnswer
from paraph.pdf.untrusted.sandbox_workers import Workers

__all__ = ["Sandbox", "SandboxLimits", "configure", "sandbox"]

Pdf = bytes | BinaryIO | Callable[[], bytes]

_log = logging.getLogger(__name__)
_PATIENCE_SECONDS = 8.0  # to wait for a free process
_LONGEST_LINE = 1000  # callers bound their own threads


class Sandbox:
    """A pool of at most ``size`` processes, started on demand. No party gets all of them at a time
    (:class:`paraph.kernel.places.Places`, also on ``told``). ``yielding``: whether the files of parties that have had
    their share are read only while processors have nothing else to do."""

    def __init__(
        self, size: int, limits: SandboxLimits | None = None, told: Told | None = None, *, yielding: bool = False
    ) -> None:
        self._yielding = yielding
        self._places = Places(size, _PATIENCE_SECONDS, _LONGEST_LINE, told)
        self._answers = SandboxAnswers()
        self._workers = Workers(size, limits or SandboxLimits())

    def call(
        self,
        job: str,
        pdf: Pdf,
        *,
        party: str = "",
        sha256: bytes = b"",
        patience: int = 1,
        **arguments: Any,
    ) -> JobAnswer:
        """Run ``job`` on a file and return its answer: JSON and bytes.

        An open file is read whole, whatever its position, and must not change meanwhile; a function is called for the
        file when its turn comes. ``party``: on whose behalf the file is read. ``sha256``: the file's digest if known; a
        file that was too complex is then refused at once for a while, and simultaneous identical calls share one
        answer. ``patience`` multiplies the usual time limits.

        Raises PdfRefused with the reason that the job gave, or ``too_complex`` if the process was lost by fault of the
        file. Raises ReadersUnavailable if it was lost otherwise, could not be started, or none was free within seconds.
        """
        request = {"job": job, "arguments": arguments, "patience": patience}
        question = (party, sha256, json.dumps(request)) if sha256 else None
        if question:
            self._answers.refuse(question)
        with waiting(party) as visit:
            if not visit:
                raise ReadersUnavailable
            if question:
                return self._answers.answer(question, lambda: self._read(request, pdf, visit))
            return self._read(request, pdf, visit)

    def _read(self, request: dict[str, Any], pdf: Pdf, thread: Visit) -> JobAnswer:
        with self._places.place(thread.party) as visit:
            if not visit:
                raise ReadersUnavailable
            with self._workers.one(last=self._has_had_share(visit)) as worker:
                with visit.no_work(), thread.no_work():
                    worker.confinement()  # waits for the start, which is charged to no party
                before = worker.used.processor
                try:
                    message, content = worker.ask(
                        request,
                        pdf() if callable(pdf) else pdf,
                        lambda used: self._look(worker, used, visit, thread),
                    )
                finally:
                    visit.used = thread.used = max(0.0, worker.used.processor - before)
        if "refused" in message:
            raise PdfRefused(*message["refused"])
        if "fault" in message:
            _log.warning("a PDF was refused after a fault in the %s job:\n%s", request["job"], message["fault"])
            raise PdfRefused("unreadable", "The file cannot be read as a PDF.")
        return message["result"], content

    def _look(self, worker: SandboxProcess, used: float, *visits: Visit) -> None:
        """Charge the visits with ``used``, the processor seconds of the job so far, and let the process yield where
        the party has had its share."""
        for visit in visits:
            visit.used = used
        if not worker.last and self._has_had_share(visits[0]):
            self._workers.come_last(worker)

    def warm(self) -> None:
        """Start a process now, so that the first call need not wait for it."""
        with self._workers.one():
            pass

    def close(self) -> None:
        """End all processes; the pool is unusable afterwards."""
        self._workers.close()

    def _has_had_share(self, visit: Visit) -> bool:
        return self._yielding and self._places.has_had_share(visit.party)


_default: Sandbox | None = None
_default_lock = threading.Lock()


def sandbox() -> Sandbox:
    """Return the pool of this process, with one sandboxed process per core and one more unless :func:`configure` was
    called. The additional process is free for others when one party has all of the rest."""
    global _default  # noqa: PLW0603  one pool per process is the point
    with _default_lock:
        if _default is None:
            _default = Sandbox(machine.cores() + 1)
        return _default


def configure(
    size: int, limits: SandboxLimits | None = None, told: Told | None = None, *, yielding: bool = False
) -> Sandbox:
    """Replace the pool of this process, for example to share a machine among several web processes."""
    global _default  # noqa: PLW0603  see above
    _end_default()
    with _default_lock:
        _default = Sandbox(size, limits, told, yielding=yielding)
        return _default


@atexit.register
def _end_default() -> None:
    global _default
    with _default_lock:
        pool, _default = _default, None
    if pool:
        pool.close()


_of_parent: list[Sandbox | None] = []  # kept alive, so that no finalizer ends the parent's processes


def _forget_after_fork() -> None:
    global _default, _default_lock
    _of_parent.append(_default)
    _default, _default_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
