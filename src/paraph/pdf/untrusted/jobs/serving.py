"""The sandboxed process: answers jobs one by one until its limits or its parent end it.

Started by :mod:`paraph.pdf.untrusted.sandbox` as ``python -m`` :mod:`paraph.pdf.untrusted.jobs.worker`,
:mod:`paraph.pdf.untrusted.jobs.verifying_worker` or :mod:`paraph.pdf.untrusted.jobs.logo_worker` with the socket as
standard input.
"""

import codecs
import contextlib
import encodings
import gc
import io
import json
import os
import pkgutil
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pikepdf

from paraph.confinement import confine
from paraph.kernel.machine import follow_parent
from paraph.pdf.pdfium_library import begin_anew
from paraph.pdf.refusal import PdfRefused, too_complex
from paraph.pdf.untrusted import sandbox_wire as wire
from paraph.pdf.untrusted.sandbox_wire import JobAnswer, ResourcesUsed

Do = Callable[[dict[str, Any], list[int]], JobAnswer]
"""A function that does a job, given the request and the descriptors of the files, which it then owns."""

FONTS = ("/usr/share/fonts", "/usr/share/X11/fonts/Type1", "/usr/share/X11/fonts/TTF", "/usr/local/share/fonts")
"""Where PDFium finds fonts that a file does not embed."""
_idle: dict[str, int] = {}  # bytes of this process before its first job
_NICENESS = 5  # requests that read no file come first


def serve(do: Do, warm_up: Callable[[], object]) -> None:
    """Serve jobs. ``argv``: process id of the parent, and the limits as JSON (``SandboxLimits``)."""
    parent, limits = int(sys.argv[1]), json.loads(sys.argv[2])
    follow_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    with socket.socket(fileno=0) as connection, contextlib.suppress(ConnectionError):
        warm_up()
        begin_anew()
        gc.freeze()
        _resident()  # opens /proc/self/statm while that is allowed
        os.nice(_NICENESS)
        confinement = confine(FONTS)
        _limit(limits["memory"])
        wire.send(connection, {"used": _used(), "unconfined": confinement.missing})
        while True:
            request, descriptors = wire.receive_with_descriptors(connection)
            _grant_processor_time(int(limits["processor_seconds"] * request["patience"]))
            message, content = _answer(do, request, descriptors)
            message["resident"], message["used"] = _resident(), _used()
            wire.send(connection, message, content)
            del message, content
            gc.collect()  # frees the file: the next one may be another tenant's
            begin_anew()


def look_up_encodings() -> None:
    """Load all codecs before the sandbox closes off the file system, so that whichever a reader or a file names, text
    is decoded as it is outside. ``pdfdoc`` is pyHanko's."""
    for name in ("pdfdoc", *(module.name for module in pkgutil.iter_modules(encodings.__path__))):
        with contextlib.suppress(LookupError):  # a module that is no codec, or one of another system
            codecs.lookup(name)


def open_random_source() -> None:
    """Let qpdf open its source of random bytes, without which it reads no file that AES-256 encrypts."""
    pikepdf.new().save(io.BytesIO(), encryption=pikepdf.Encryption(user="", owner="a", R=6))


def _limit(memory: int) -> None:
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    if sys.platform == "linux":
        _idle["virtual"] = _pages()[0]
        _lower(resource.RLIMIT_AS, _idle["virtual"] + memory)


@contextlib.contextmanager
def limited_memory(most: int) -> Iterator[None]:
    """Allow the block ``most`` bytes of address space beyond what the process had before its first job (during warm-up:
    has now), if that is less than it is allowed anyway. Do nothing where the system is not Linux."""
    if sys.platform != "linux":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    now = _pages()[0]
    wanted = max(_idle.get("virtual", now) + most, now)
    resource.setrlimit(resource.RLIMIT_AS, (wanted if soft == resource.RLIM_INFINITY else min(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _lower(resource_kind: int, limit: int) -> None:
    hard = resource.getrlimit(resource_kind)[1]
    value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource_kind, (value, value))


def _grant_processor_time(seconds: int) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(usage.ru_utime + usage.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _answer(do: Do, request: dict[str, Any], descriptors: list[int]) -> JobAnswer:
    try:
        result, content = do(request, descriptors)
        return {"result": result}, content
    except PdfRefused as refusal:
        return {"refused": [refusal.reason, refusal.message, refusal.facts]}, b""
    except (MemoryError, RecursionError):
        lost = too_complex()
        return {"refused": [lost.reason, lost.message, lost.facts], "spent": True}, b""
    except Exception as error:  # noqa: BLE001  whatever a hostile file provokes becomes its refusal, with a trace in the log
        # Without the message, which may quote the file.
        return {"fault": f"{''.join(traceback.format_tb(error.__traceback__, -8))}{type(error).__qualname__}"}, b""


def _pages() -> tuple[int, int]:
    """Return virtual and resident bytes of this process."""
    virtual, resident = os.pread(_statm(), 100, 0).split()[:2]
    return int(virtual) * resource.getpagesize(), int(resident) * resource.getpagesize()


@cache
def _statm() -> int:
    """Open the file once, while files can be opened."""
    return os.open("/proc/self/statm", os.O_RDONLY)


def _used() -> ResourcesUsed:
    return ResourcesUsed.of(resource.getrusage(resource.RUSAGE_SELF))


def _resident() -> int:
    return _pages()[1] if sys.platform == "linux" else 0
