"""One sandboxed process: started, asked, put behind all others, ended, and judged when lost.

``paraph.pdf.untrusted.sandbox`` pools them. Many kernels deal processors out by session before they look at priorities
(autogroup, sched(7)): within its session a process of the lowest priority waits for the others, and the session still
has as much as any other one, such as the database's. So each sandboxed process is a session of its own, and where it
comes last, its session does.
"""

import contextlib
import dataclasses
import json
import logging
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, Literal

from paraph.confinement import Confinement
from paraph.pdf.refusal import PdfRefused, ReadersUnavailable, too_complex
from paraph.pdf.untrusted import sandbox_wire as wire
from paraph.pdf.untrusted.sandbox_loss import ResourcesUsed, file_at_fault, kill

_LOWEST = 19
_PAUSE = 0.1  # seconds in which the system lets accounts other than root set one session's part
_TRIES = 5
_log = logging.getLogger(__name__)
_LOOK_SECONDS = 0.25  # between two looks at what a job has used
_BOOT_SECONDS = 60.0  # to import the readers on a busy machine; usually half a second
Program = Literal["worker", "verifying_worker", "logo_worker"]
"""A module of :mod:`paraph.pdf.untrusted.jobs`, whose processes read uploads, verify sealed files, or draw logos."""


class SandboxPriority:
    """The priority of a process that leads its session. To be made by its parent as soon as it runs: later, the
    process is confined and its files in ``/proc`` are out of reach. Needs no privilege; without one, no way leads back
    from the lowest. Does nothing where the system does not allow it."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._session: FileIO | None = None
        with contextlib.suppress(OSError):  # no Linux, or a kernel that knows no such thing
            self._session = FileIO(f"/proc/{process}/autogroup", "wb")

    def come_last(self) -> None:
        """Run it from now on where processors have nothing else to do (SCHED_IDLE, or the lowest priority)."""
        with contextlib.suppress(OSError):
            if sys.platform == "linux":
                os.sched_setscheduler(self._process, os.SCHED_IDLE, os.sched_param(0))
            else:
                os.setpriority(os.PRIO_PROCESS, self._process, _LOWEST)
        self._session_comes_last()

    def close(self) -> None:
        if self._session:
            self._session.close()
            self._session = None

    def _session_comes_last(self) -> None:
        with contextlib.suppress(OSError):  # it has gone
            for _ in range(_TRIES):
                if not self._session or self._session.write(b"%d" % _LOWEST):
                    return
                time.sleep(_PAUSE)


def processor_seconds(process: int) -> float:
    """In its life so far; 0 where the system does not tell, or the process has gone."""
    try:
        state = Path(f"/proc/{process}/stat").read_bytes()
        user, system = state.rpartition(b")")[2].split()[11:13]  # proc_pid_stat(5): utime and stime
    except (OSError, ValueError):
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class SandboxLimits:
    """What one job may use: ``memory`` and ``resident`` in bytes. ``memory`` is address space beyond that of an idle
    process. A process that holds more than ``resident`` after a job, or has done ``jobs`` of them, is replaced."""

    memory: int = 1 << 30
    processor_seconds: int = 10
    wall_seconds: float = 20.0
    resident: int = 400 << 20
    jobs: int = 1000


class SandboxProcess:
    """One sandboxed process and the socket to it. Used by one thread at a time. ``program``: the module that it runs,
    with the jobs that it can do. ``last``: whether it runs only while
    processors have nothing else to do, from :meth:`come_last` on and for good."""

    def __init__(self, limits: SandboxLimits, program: Program = "worker") -> None:
        self._limits = limits
        self._jobs = 0
        self._confinement: Confinement | None = None
        self._spent = False
        self.last = False
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
                start_new_session=True,  # see sandbox_priority
            )
            unless_started.pop_all()
        self._priority = SandboxPriority(self._process.pid)

    @property
    def usable(self) -> bool:
        return not self._spent and self._jobs < self._limits.jobs and self._process.poll() is None

    def come_last(self) -> None:
        self.last = True
        self._priority.come_last()

    def ask(
        self, request: dict[str, Any], files: Sequence[bytes | BinaryIO], tell: Callable[[float], object]
    ) -> wire.JobAnswer:
        """Send a job over ``files`` and return its answer. ``tell`` is called again and again with the processor
        seconds that the job has used. Raise PdfRefused ``too_complex`` if the process is lost by fault of the file,
        else ReadersUnavailable."""
        self._spent, self._jobs = True, self._jobs + 1  # unless an answer says otherwise
        self.confinement()
        try:
            with contextlib.ExitStack() as opened:
                descriptors = [opened.enter_context(open_descriptor(file)) for file in files]
                self._connection.settimeout(self._limits.wall_seconds)
                wire.send(self._connection, request, descriptors=descriptors)
            message, content = self._answer(self._limits.wall_seconds * request["patience"], tell)
        except OSError as error:  # also TimeoutError and ConnectionEndedError
            raise self._lost(request, error) from error
        self.used = ResourcesUsed(*message.get("used", self.used))
        self._spent = bool(message.get("spent")) or message.get("resident", 0) > self._limits.resident
        return message, content

    def _answer(self, seconds: float, tell: Callable[[float], object]) -> wire.JobAnswer:
        deadline, before = time.monotonic() + seconds, self.used.processor
        while (left := deadline - time.monotonic()) > _LOOK_SECONDS:
            if self._has_answer(_LOOK_SECONDS):
                break
            tell(max(0.0, processor_seconds(self._process.pid) - before))
        return wire.receive(self._connection, max(left, _LOOK_SECONDS))

    def _has_answer(self, seconds: float) -> bool:
        answers = select.poll()
        answers.register(self._connection, select.POLLIN)
        return bool(answers.poll(1000 * seconds))

    def confinement(self) -> Confinement:
        """Wait until the process is ready and return its confinement. Raise ReadersUnavailable."""
        if self._confinement is None:
            self._confinement = self._await_ready()
        return self._confinement

    def end(self) -> None:
        kill(self._process)
        self._close()

    def _await_ready(self) -> Confinement:
        try:
            message, _ = wire.receive(self._connection, _BOOT_SECONDS)
        except OSError as error:
            self.end()
            details = (type(error).__name__, self._process.returncode)
            _log.error("the process that reads PDFs did not start: %s, exit status %s", *details)
            raise ReadersUnavailable from error
        self.used = ResourcesUsed(*message["used"])
        return Confinement(message["unconfined"])

    def _lost(self, request: dict[str, Any], error: OSError) -> PdfRefused | ReadersUnavailable:
        """Return the refusal for a process that died, timed out or sent nonsense."""
        end, limits = kill(self._process), self._limits
        self._close()
        before, self.used = self.used, end.used
        seconds = limits.processor_seconds * request["patience"]
        at_fault = isinstance(error, wire.NoMessageError) or file_at_fault(
            end, before, processor_seconds=seconds, memory=limits.memory
        )
        details = (request["job"], type(error).__name__, end.status, end.used.processor - before.processor)
        if at_fault:
            _log.warning(
                "a PDF was refused: the %s job ended with %s, exit status %s, after %.1f s of a core", *details
            )
            return too_complex()
        _log.error("no fault of the PDF: the %s job ended with %s, exit status %s, after %.1f s of a core", *details)
        return ReadersUnavailable()

    def _close(self) -> None:
        self._connection.close()
        self._priority.close()


def worker_environment() -> dict[str, str]:
    """Return a minimal environment, so that no secret of the service is within reach of a hijacked reader."""
    here = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {**here, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LC_ALL": "C.UTF-8"}


@contextlib.contextmanager
def open_descriptor(pdf: bytes | BinaryIO) -> Iterator[int]:
    """Yield a read-only descriptor of the file; bytes are put into a memory file first."""
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
        file.seek(0)
        yield file.fileno()
