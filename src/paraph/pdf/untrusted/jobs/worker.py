"""The sandboxed process: answers jobs one by one until its limits or its parent end it.

Started by :mod:`paraph.pdf.untrusted.sandbox_process` as ``python -m paraph.pdf.untrusted.jobs.worker`` with the socket
as standard input.
"""

import contextlib
import gc
import json
import os
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from functools import cache
from typing import Any

from paraph.confinement import confine
from paraph.kernel.parent import follow_parent
from paraph.pdf.refusal import PdfRefused, too_complex
from paraph.pdf.untrusted import sandbox_wire as wire
from paraph.pdf.untrusted.jobs import (
    draft_job,
    find_job,
    inspect_job,
    render_job,
    signature_lines_job,
    tags_job,
    text_layer_job,
)
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.warm_up import warm_up
from paraph.pdf.untrusted.sandbox_loss import ResourcesUsed
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

JOBS: dict[str, Callable[..., JobAnswer]] = {
    "inspect": inspect_job.inspect,
    "find": find_job.find,
    "tags": tags_job.list_tags,
    "signature_lines": signature_lines_job.list_signature_lines,
    "render": render_job.render,
    "text": text_layer_job.text_layer,
    "sealing_seal": draft_job.seal,
    "sealing_archive": draft_job.archive,
    "sealing_check": draft_job.check,
}
FONTS = (
    "/usr/share/fonts",
    "/usr/share/X11/fonts/Type1",
    "/usr/share/X11/fonts/TTF",
    "/usr/local/share/fonts",
)
"""Where PDFium finds fonts that a file does not embed."""
_NICENESS = 5  # requests that read no file come first


def main() -> None:
    """Serve jobs. ``argv``: process id of the parent, and the limits as JSON (``SandboxLimits``)."""
    parent, limits = int(sys.argv[1]), json.loads(sys.argv[2])
    follow_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    with socket.socket(fileno=0) as connection, contextlib.suppress(ConnectionError):
        warm_up(JOBS)
        gc.freeze()
        _resident()  # opens /proc/self/statm while that is allowed
        os.nice(_NICENESS)
        confinement = confine(FONTS)
        _limit(limits["memory"])
        wire.send(connection, {"used": _used(), "unconfined": confinement.missing})
        while True:
            request, descriptor = wire.receive_with_descriptor(connection)
            _grant_processor_time(limits["processor_seconds"] * request["patience"])
            message, content = _answer(request, descriptor)
            message["resident"], message["used"] = _resident(), _used()
            wire.send(connection, message, content)
            del message, content
            gc.collect()  # frees the file: the next one may be another customer's


def _limit(memory: int) -> None:
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    if sys.platform == "linux":
        _lower(resource.RLIMIT_AS, _pages()[0] + memory)


def _lower(resource_kind: int, limit: int) -> None:
    hard = resource.getrlimit(resource_kind)[1]
    value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource_kind, (value, value))


def _grant_processor_time(seconds: int) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(usage.ru_utime + usage.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _answer(request: dict[str, Any], descriptor: int) -> JobAnswer:
    try:
        with UntrustedFile(descriptor) as file:
            result, content = JOBS[request["job"]](file, **request["arguments"])
        return {"result": result}, content
    except PdfRefused as refusal:
        return {"refused": [refusal.reason, refusal.message, refusal.facts]}, b""
    except (MemoryError, RecursionError):
        lost = too_complex()
        return {"refused": [lost.reason, lost.message, lost.facts], "spent": True}, b""
    except Exception:  # noqa: BLE001  whatever a hostile file provokes becomes its refusal, with a trace in the log
        return {"fault": traceback.format_exc(limit=-8)}, b""


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


if __name__ == "__main__":
    main()
