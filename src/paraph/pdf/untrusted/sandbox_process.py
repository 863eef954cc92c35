"""One sandboxed process: started, asked, ended, and judged when lost. ``paraph.pdf.untrusted.sandbox`` pools them."""

import contextlib
import dataclasses
import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from paraph.confinement import Confinement
from paraph.pdf.refusal import PdfRefused, ReadersUnavailable, too_complex
from paraph.pdf.untrusted import sandbox_wire as wire
from paraph.pdf.untrusted.sandbox_loss import ResourcesUsed, file_at_fault, kill

_log = logging.getLogger(__name__)
_BOOT_SECONDS = 60.0  # to import the readers on a busy machine; usually half a second
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
                start_new_session=True,  # Ctrl-C goes to the service, which ends them when it is done
            )
            unless_started.pop_all()

    @property
    def usable(self) -> bool:
        return not self._spent and self._jobs < self._limits.jobs and self._process.poll() is None

    def ask(self, request: dict[str, Any], files: Sequence[bytes | BinaryIO]) -> wire.JobAnswer:
        """Send a job over ``files`` and return its answer. Raise PdfRefused ``too_complex`` if the process is lost by
        fault of the file, else ReadersUnavailable."""
        self._spent, self._jobs = True, self._jobs + 1  # unless an answer says otherwise
        self.confinement()
        try:
            with contextlib.ExitStack() as opened:
                descriptors = [opened.enter_context(open_descriptor(file)) for file in files]
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
