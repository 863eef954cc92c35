"""Untrusted PDFs are parsed in processes of their own, reused from job to job, with hard limits.

A process that dies, hangs or runs into a limit is replaced, and the file it was reading is refused; the next
call works. Nothing here parses a byte of the file. Thread-safe; a forked process starts its own pool.
"""

import atexit
import contextlib
import dataclasses
import json
import logging
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, BinaryIO

from paraph.pdf import sandbox_wire as wire
from paraph.pdf.refusal import PdfRefused, too_complex

_log = logging.getLogger(__name__)
_BOOT_SECONDS = 60.0  # to import the readers on a busy machine; half a second is usual


@dataclass(frozen=True)
class Limits:
    """What one job may use: ``memory`` and ``resident`` in bytes.

    ``memory`` is address space above that of an idle process; a process that still holds more than
    ``resident`` after a job, or has done ``jobs`` of them, is replaced.
    """

    memory: int = 1 << 30
    processor_seconds: int = 10
    wall_seconds: float = 20.0
    resident: int = 400 << 20
    jobs: int = 1000


class Sandbox:
    """A pool of at most ``size`` processes, started when first needed."""

    def __init__(self, size: int, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._slots: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        self._size = size
        for _ in range(size):
            self._slots.put(None)
        # The kernel ends a process with the THREAD that started it, so one thread that stays starts them all.
        self._starter = ThreadPoolExecutor(1, "pdf-sandbox")

    def call(self, job: str, pdf: bytes | BinaryIO, **arguments: Any) -> tuple[dict[str, Any], bytes]:
        """What the job answers: JSON and bytes. Waits for a free process. An open file is read whole, wherever it
        stands, and must not change meanwhile.

        Raises PdfRefused with the reason the job gave; ``too_complex`` when the process was lost over the file.
        """
        with self._worker() as worker:
            message, content = worker.ask({"job": job, "arguments": arguments}, pdf)
        if "refused" in message:
            raise PdfRefused(*message["refused"])
        if "fault" in message:
            _log.warning("a PDF was refused after a fault in the %s job:\n%s", job, message["fault"])
            raise PdfRefused("unreadable", "The file cannot be read as a PDF.")
        return message["result"], content

    def warm(self) -> None:
        """Start a process now, so that the first call does not wait for it."""
        with self._worker():
            pass

    def close(self) -> None:
        """End all processes; the pool cannot be used any more."""
        for _ in range(self._size):
            worker = self._slots.get()
            if worker:
                worker.end()
        self._starter.shutdown()

    @contextlib.contextmanager
    def _worker(self) -> Iterator["_Worker"]:
        worker = self._slots.get()
        try:
            if worker is None or not worker.usable:
                if worker:
                    worker.end()
                worker = self._starter.submit(_Worker, self._limits).result()
            yield worker
        finally:
            if worker and not worker.usable:
                worker.end()
                worker = None
                with contextlib.suppress(OSError, RuntimeError):  # no process or no thread now: the next call tries
                    worker = self._starter.submit(_Worker, self._limits).result()
            self._slots.put(worker)


class _Worker:
    """One sandboxed process and the socket to it. Used by one thread at a time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._jobs = 0
        self._ready = False
        self._spent = False
        self._connection, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", "paraph.pdf.isolated.worker"]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  our own module
                [*command, str(os.getpid()), json.dumps(dataclasses.asdict(limits))],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )

    @property
    def usable(self) -> bool:
        return not self._spent and self._jobs < self._limits.jobs and self._process.poll() is None

    def ask(self, request: dict[str, Any], pdf: bytes | BinaryIO) -> tuple[dict[str, Any], bytes]:
        """Raises PdfRefused ``too_complex`` when the process is lost, RuntimeError when it never came up."""
        self._spent, self._jobs = True, self._jobs + 1  # until the answer is here, whatever is raised
        if not self._ready:
            self._await_ready()
        try:
            with _descriptor(pdf) as descriptor:
                self._connection.settimeout(self._limits.wall_seconds)
                wire.send(self._connection, request, descriptor=descriptor)
            message, content = wire.receive(self._connection, self._limits.wall_seconds)
        except OSError as error:  # also TimeoutError and ConnectionEndedError
            self.end()
            _log.warning("a PDF was refused: the %s job ended with %r", request["job"], self._ended(error))
            raise too_complex() from error
        self._spent = bool(message.get("spent")) or message.get("resident", 0) > self._limits.resident
        return message, content

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()

    def _await_ready(self) -> None:
        try:
            wire.receive(self._connection, _BOOT_SECONDS)
        except OSError as error:
            self.end()
            raise RuntimeError(f"the process that reads PDFs did not start: {self._ended(error)}") from error
        self._ready = True

    def _ended(self, error: Exception) -> str:
        return f"{type(error).__name__}, exit status {self._process.returncode}"


def _environment() -> dict[str, str]:
    """Nothing of ours but where the code is: no secret of the service is in reach of a hijacked reader."""
    here = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {**here, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LC_ALL": "C.UTF-8"}


@contextlib.contextmanager
def _descriptor(pdf: bytes | BinaryIO) -> Iterator[int]:
    """Of a file of its own; one that is open already is opened once more, only to be read."""
    if not isinstance(pdf, bytes):
        pdf.flush()
        descriptor = os.open(f"/dev/fd/{pdf.fileno()}", os.O_RDONLY)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
        return
    memory = hasattr(os, "memfd_create")
    with os.fdopen(os.memfd_create("pdf"), "wb") if memory else tempfile.TemporaryFile() as file:
        file.write(pdf)
        file.flush()
        yield file.fileno()


_default: Sandbox | None = None
_default_lock = threading.Lock()


def sandbox() -> Sandbox:
    """The pool of this process, one sandboxed process per core unless ``configure`` said otherwise."""
    global _default  # noqa: PLW0603  one pool per process is the point
    with _default_lock:
        if _default is None:
            _default = Sandbox(os.cpu_count() or 1)
        return _default


def configure(size: int, limits: Limits | None = None) -> Sandbox:
    """Replace this process's pool, for example to share a machine among several web processes."""
    global _default  # noqa: PLW0603  see above
    _end_default()
    with _default_lock:
        _default = Sandbox(size, limits)
        return _default


@atexit.register
def _end_default() -> None:
    global _default
    with _default_lock:
        pool, _default = _default, None
    if pool:
        pool.close()


_of_parent: list[Sandbox | None] = []  # kept, so that nothing here ends or waits for the parent's processes


def _forget_after_fork() -> None:
    global _default, _default_lock
    _of_parent.append(_default)
    _default, _default_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
