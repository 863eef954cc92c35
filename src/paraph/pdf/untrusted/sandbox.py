"""A pool of processes that parse untrusted PDFs, reused from job to job, with hard limits.

The service parses no byte of the file. A process that dies, hangs or exceeds a limit is replaced. The file is at fault
if the process used much of its limits or ended by itself; a process that was killed from outside, or starved of
processor time, says nothing about the file. Thread-safe; a forked process starts its own pool. Tenants share the
processes fairly.
"""

import atexit
import contextlib
import dataclasses
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import Any, BinaryIO, Literal

from paraph.confinement import Confinement
from paraph.kernel import machine
from paraph.kernel.places import FairSemaphore, NoPlaceError, Told, expensive_work
from paraph.pdf.refusal import PdfRefused, ReadersUnavailable, too_complex
from paraph.pdf.untrusted import sandbox_wire as wire
from paraph.pdf.untrusted.sandbox_answers import SandboxAnswers
from paraph.pdf.untrusted.sandbox_wire import JobAnswer, ResourcesUsed

Pdf = bytes | BinaryIO | Callable[[], bytes]
Files = list[bytes | BinaryIO]
logging.getLogger(__package__).addHandler(logging.NullHandler())  # without a log set up, only the refusal tells
_log = logging.getLogger(__name__)
_lock = Lock()
_CROWD = 1000  # threads that wait for a process: callers limit their own number
_BOOT_SECONDS = 60.0  # to import the readers on a busy machine; usually half a second
_MOST = 0.5  # of a limit; a sound file uses less than a tenth
_FROM_OUTSIDE = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, -signal.SIGQUIT}
Program = Literal["worker", "verifying_worker", "logo_worker"]
"""A module of :mod:`paraph.pdf.untrusted.jobs`, whose processes read uploads, verify sealed files, or draw logos."""


@dataclass(frozen=True)
class SandboxLimits:
    """What one job may use: ``memory`` and ``resident`` in bytes. ``memory`` is address space beyond that of an idle
    process. A process that holds more than ``resident`` after a job, or has done ``jobs`` of them, is replaced."""

    memory: int = 1 << 30
    processor_seconds: int = 10
    wall_seconds: float = 20.0
    resident: int = 400 << 20
    jobs: int = 1000


VERIFICATION_LIMITS = SandboxLimits(memory=320 << 20, processor_seconds=8, resident=128 << 20)
"""With what the processes on both sides need themselves, a verification takes at most 512 MB and 10 seconds."""


def kill(process: subprocess.Popen[bytes]) -> tuple[int, ResourcesUsed]:
    """End and reap the process; return its status, negative for a signal, and what it used. ``Popen.kill`` may reap it
    itself, which would lose the latter."""
    used = ResourcesUsed()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            used = ResourcesUsed.of(usage)
    return process.wait(), used


class SandboxProcess:
    """One sandboxed process and the socket to it. Used by one thread at a time. ``program``: the module that it runs,
    with the jobs that it can do."""

    def __init__(self, limits: SandboxLimits, program: Program = "worker") -> None:
        self._limits = limits
        self._jobs = 0
        self._confinement: Confinement | None = None
        self._spent = False
        self.used = ResourcesUsed()  # in its life so far
        self._connection, theirs = socket.socketpair()
        command = [sys.executable, "-P", "-m", f"paraph.pdf.untrusted.jobs.{program}"]
        with theirs, contextlib.ExitStack() as unless_started:
            unless_started.callback(self._connection.close)
            self._process = subprocess.Popen(  # noqa: S603  a module of this package
                [*command, str(os.getpid()), json.dumps(dataclasses.asdict(limits))],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=worker_environment(),
                start_new_session=True,  # Ctrl-C goes to the service, which ends its processes when it is done
            )
            unless_started.pop_all()

    @property
    def usable(self) -> bool:
        return not self._spent and self._jobs < self._limits.jobs and self._process.poll() is None

    def ask(self, request: dict[str, Any], files: Sequence[bytes | BinaryIO]) -> wire.JobAnswer:
        """Send a job over ``files`` and return its answer. Raise PdfRefused ``too_complex`` if the process is lost
        because of the file, else ReadersUnavailable."""
        self._spent, self._jobs = True, self._jobs + 1  # unless an answer says otherwise
        self.confinement()
        try:
            with contextlib.ExitStack() as opened:
                descriptors = [opened.enter_context(wire.open_descriptor(file)) for file in files]
                self._connection.settimeout(self._limits.wall_seconds)
                wire.send(self._connection, request, descriptors=descriptors)
            message, content = wire.receive(self._connection, self._limits.wall_seconds * max(1, request["patience"]))
        except OSError as error:  # also TimeoutError and ConnectionEndedError
            raise self._lost(request, error) from error
        self.used = ResourcesUsed(*message.get("used", self.used))
        self._spent = bool(message.get("spent")) or message.get("resident", 0) > self._limits.resident
        return message, content

    def confinement(self) -> Confinement:
        """Wait until the process is ready and return its confinement. Raise ReadersUnavailable."""
        if self._confinement is None:
            try:
                message, _ = wire.receive(self._connection, _BOOT_SECONDS)
            except OSError as error:
                self.end()
                details = (type(error).__name__, self._process.returncode)
                _log.error("the process that reads PDFs did not start: %s, exit status %s", *details)
                raise ReadersUnavailable from error
            self.used = ResourcesUsed(*message["used"])
            self._confinement = Confinement(message["unconfined"])
        return self._confinement

    def end(self) -> None:
        kill(self._process)
        self._connection.close()

    def _lost(self, request: dict[str, Any], error: OSError) -> PdfRefused | ReadersUnavailable:
        """Return the refusal for a process that died, timed out or sent nonsense. The kernel's out-of-memory killer
        uses the same signal as an operator, so a high use of memory counts against the file."""
        limits, before = self._limits, self.used
        status, self.used = kill(self._process)
        self._connection.close()
        seconds = self.used.processor - before.processor
        at_fault = (
            isinstance(error, wire.NoMessageError)
            or seconds >= _MOST * limits.processor_seconds * request["patience"]
            or self.used.peak >= max(_MOST * limits.memory, before.peak + 1)
            or status not in _FROM_OUTSIDE
        )
        level, verdict = (logging.WARNING, "a PDF was refused") if at_fault else (logging.ERROR, "no fault of the PDF")
        details = (verdict, request["job"], type(error).__name__, status, seconds)
        _log.log(level, "%s: the %s job ended with %s, exit status %s, after %.1f s of a core", *details)
        return too_complex() if at_fault else ReadersUnavailable()


def worker_environment() -> dict[str, str]:
    """Return a minimal environment, so that no secret of the service is within reach of a hijacked reader."""
    here = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {**here, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LC_ALL": "C.UTF-8"}


class Workers:
    """Sandboxed processes, started when needed; at most ``size`` are kept. Thread-safe. ``begun``: one was started."""

    def __init__(self, size: int, limits: SandboxLimits, program: Program) -> None:
        self._new = partial(SandboxProcess, limits, program)
        self._idle: list[SandboxProcess] = []
        self._most = size
        self.begun = False
        self._closed = False
        self._spoilt_by = ""
        self._lock = Lock()
        # The kernel ends a process with the THREAD that started it, so one thread that stays starts them all.
        self._starter = ThreadPoolExecutor(1, "pdf-sandbox")

    @contextlib.contextmanager
    def one(self, tenant_key: str = "") -> Iterator[SandboxProcess]:
        """Lend the block the idle process that was used last, or a new one. The tenant that last spoilt a process gets
        its replacement, and waits for that to start. Raise ReadersUnavailable where none can be started."""
        worker = self._taken(0 if tenant_key and tenant_key == self._spoilt_by else -1) or self._started()
        try:
            yield worker
        finally:
            self._put_back(worker, tenant_key)

    def close(self) -> None:
        """End the processes, those in use as soon as they are returned. No other can be started."""
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
        """Keep an idle process, or end it. ``last``: it is to be used after all others, which have started by now."""
        with self._lock:
            if worker.usable and not self._closed and len(self._idle) < self._most:
                self._idle.insert(0 if last else len(self._idle), worker)
                return
        worker.end()

    def _started(self) -> SandboxProcess:
        self.begun = True
        try:
            return self._starter.submit(self._new).result()
        except (OSError, RuntimeError) as error:  # no process or no thread now
            _log.error("no process to read PDFs can be started: %r", error)
            raise ReadersUnavailable from error


@cache
def sandbox_confinement() -> Confinement:
    """Return how sandboxed processes are confined. One process is started once to find out, since the kernel stays the
    same. Raise ReadersUnavailable if none can be started."""
    try:
        worker = SandboxProcess(SandboxLimits())
    except OSError as error:
        raise ReadersUnavailable from error
    try:
        return worker.confinement()
    finally:
        worker.end()


class Sandbox:
    """A pool of at most ``size`` processes, started on demand. No tenant gets more than half of them at a time
    (:class:`paraph.kernel.places.FairSemaphore`, which also explains ``told``)."""

    def __init__(
        self, size: int, limits: SandboxLimits | None = None, told: Told | None = None, *, program: Program = "worker"
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

        Raise PdfRefused with the reason that the job gave, or ``too_complex`` if the process was lost because of the
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
                return self._answers.answer(question, lambda: self._read(request, pdf, tenant_key), keep=keep)
        except NoPlaceError:
            raise ReadersUnavailable from None

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
        """Start a process now unless one was started before, so that no call has to wait. Raise ReadersUnavailable."""
        if not self._workers.begun:
            with self._workers.one():
                pass

    def close(self) -> None:
        """End all processes; the pool is unusable afterwards."""
        self._workers.close()


_pools: dict[Program, Sandbox] = {}
"""The pools of this process, by the program that their sandboxed processes run."""


def sandbox() -> Sandbox:
    """Return the pool of this process. Unless :func:`configure` was called, it has two sandboxed processes per core, of
    which one tenant gets at most half."""
    return _pool("worker", lambda: 2 * machine.cores(), None)


def verification_sandbox() -> Sandbox:
    """Return the pool of this process for verification, with :data:`VERIFICATION_LIMITS`. It is separate, so that no
    upload has been read by a process whose verdict is to be trusted."""
    return _pool("verifying_worker", lambda: machine.cores() + 1, VERIFICATION_LIMITS)


def _pool(program: Program, size: Callable[[], int], limits: SandboxLimits | None) -> Sandbox:
    with _lock:
        if program not in _pools:
            _pools[program] = Sandbox(size(), limits, program=program)
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
    _pools, _lock = {}, Lock()


os.register_at_fork(after_in_child=_forget_after_fork)
