"""What the kernel offers, asked without the code under test; and kernels that offer less."""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tests.attacks.inside.attempts import call

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
