"""Calls to functions of the C library that Python does not offer."""

import ctypes
import os
from typing import Any

PR_SET_PDEATHSIG = 1
PR_GET_PDEATHSIG = 2
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
_LIBRARY = ctypes.CDLL(None, use_errno=True)


def call(function: str, *arguments: Any) -> int:
    """Call a function with numbers passed as ``long``, and return its result. Raise ``OSError`` if that is negative."""
    passed = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = int(getattr(_LIBRARY, function)(*passed))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def prctl(option: int, value: Any = 0, other: Any = 0) -> None:
    """Call ``prctl``. Raise ``OSError``."""
    call("prctl", option, value, other, 0, 0)
