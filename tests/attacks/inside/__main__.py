"""``python -m tests.attacks.inside FACTS``: makes every attempt, each in a confined process of its own, and prints the
outcomes as JSON: ``done``, the name of an error, or the signal that ended the process.

``facts`` also has ``forbidden``: system calls for the kernel to refuse; ``free``: whether to confine nothing; and
``attempts``: which to make. The output has ``missing``: what confinement reports; ``offered``: what the kernel has.
"""

import contextlib
import ctypes
import errno
import json
import os
import platform
import signal
import struct
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from paraph.confinement import confine
from tests.attacks.inside.attempts import ALL, call

READABLE = ["/usr/share/fonts", "/nowhere"]


def main() -> None:
    secret = ctypes.create_string_buffer(b"the secret of a process of the service")
    where = {"victim": os.getpid(), "address": ctypes.addressof(secret), "length": len(secret)}
    facts = {**json.loads(sys.argv[1]), **where}
    offered = sorted(offers())
    forbid(facts["forbidden"])
    outcomes = {name: _in_a_process(name, facts) for name in facts["attempts"]}
    missing = json.loads(_in_a_process("", facts))
    json.dump({"offered": offered, "missing": missing, "outcomes": outcomes}, sys.stdout)


def _in_a_process(name: str, facts: dict[str, Any]) -> str:
    """Return the outcome of the attempt; without a name, the measures that confinement says are missing."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            os.write(write, _outcome(name, facts).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        told = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return signal.Signals(-status).name if status < 0 else told or "done"  # silent where a program took its place


def _outcome(name: str, facts: dict[str, Any]) -> str:
    found = None if facts["free"] else confine(READABLE)
    if not name:
        return json.dumps(found and dict(found.missing))
    try:
        ALL[name](facts)
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"


_NUMBERS = {  # on x86-64 and on ARM
    "unshare": (272, 97),
    "landlock_create_ruleset": (444, 444),
    "seccomp": (157, 167),  # prctl, of which only the option that installs a filter is refused
}
_SETS_FILTER = 22
_FILTERED = {"x86_64", "aarch64"}
_libc = ctypes.CDLL(None, use_errno=True)


def forbid(calls: Sequence[str]) -> None:
    """Have the kernel refuse these system calls from now on, as it does in containers."""
    column = int(platform.machine() == "aarch64")
    code = []
    for name in calls:
        number = _NUMBERS[name][column]
        code += [(0x20, 0, 0, 0)]
        if name == "seccomp":
            code += [(0x15, 0, 3, number), (0x20, 0, 0, 16), (0x15, 0, 1, _SETS_FILTER)]
        else:
            code += [(0x15, 0, 1, number)]
        code += [(0x06, 0, 0, 0x50000 | errno.EPERM)]
    code += [(0x06, 0, 0, 0x7FFF0000)]
    packed = b"".join(struct.pack("HBBI", *one) for one in code)
    memory = ctypes.create_string_buffer(packed, len(packed))
    program = ctypes.create_string_buffer(struct.pack("HP", len(code), ctypes.addressof(memory)))
    if calls:
        _libc.prctl(38, 1, 0, 0, 0)
        assert _libc.prctl(_SETS_FILTER, 2, program, 0, 0) == 0, os.strerror(ctypes.get_errno())


def offers() -> set[str]:
    """Return the measures of confinement that the kernel offers here."""
    found = {"seccomp"} if Path("/proc/sys/kernel/seccomp").exists() and platform.machine() in _FILTERED else set()
    if _works(lambda: call(444, 444, 0, 0, 1)):
        found.add("Landlock")
    if any(_works(partial(_separate, flags)) for flags in (0x4C020000, 0x5C020000)):  # as root, or in a user namespace
        found.add("namespaces")
    return found


def _separate(flags: int) -> None:
    call(272, 97, flags)
    call(165, 40, 0, b"/", 0, 0x44000, 0)


def _works(attempt: Callable[[], object]) -> bool:
    child = os.fork()
    if not child:
        try:
            attempt()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    main()
