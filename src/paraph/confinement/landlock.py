"""Landlock: only files below a few folders, no TCP, no signals or abstract sockets to other processes.

https://docs.kernel.org/userspace-api/landlock.html. Each version of the kernel's interface can refuse more.
"""

import ctypes
import os
from collections.abc import Sequence

from paraph.confinement.libc import call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all architectures
_TELL_VERSION = 1
_BELOW_PATH = 1
_RUN, _READ_FILE, _READ_FOLDER = 1, 1 << 2, 1 << 3
_OF_FILES = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""All rights to files, by the version of the interface that added them."""
_TCP = (4, 0b11)  # bind and connect
_SCOPES = (6, 0b11)  # abstract sockets and signals


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


class _Below(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"  # packed as the kernel wants it; Python 3.14 wants it named beside `_pack_`
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def restrict(readable: Sequence[str], *, programs: bool) -> None:
    """Let this process do no more with files than read those below ``readable``, and run them if ``programs``. Needs
    "no new privileges". Raise ``OSError``."""
    version = call("syscall", _CREATE_RULESET, None, 0, _TELL_VERSION)
    ruleset = call("syscall", _CREATE_RULESET, *_refused(version), 0)
    try:
        for folder in filter(os.path.isdir, readable):
            _allow(ruleset, folder, _READ_FILE | _READ_FOLDER | (_RUN if programs else 0))
        call("syscall", _RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _refused(version: int) -> tuple[object, int]:
    files = sum(rights for since, rights in _OF_FILES.items() if since <= version)
    network, scopes = (rights if since <= version else 0 for since, rights in (_TCP, _SCOPES))
    known = 1 + (version >= _TCP[0]) + (version >= _SCOPES[0])  # fields that the kernel knows
    return ctypes.byref(_Ruleset(files, network, scopes)), known * ctypes.sizeof(ctypes.c_uint64)


def _allow(ruleset: int, folder: str, rights: int) -> None:
    descriptor = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _Below(rights, descriptor)
        call("syscall", _ADD_RULE, ruleset, _BELOW_PATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)
