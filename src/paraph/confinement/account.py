"""The rights of a process: those of root and those inside its own namespaces are given up."""

import contextlib
import ctypes
import os

from paraph.confinement.libc import PR_GET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_PDEATHSIG, call, prctl

_NOBODY = 65534
_CAP_KILL = 5
_CAPABILITIES_V3 = 0x20080522


def leave_root() -> None:
    """Become an account that owns nothing, if this process is root and its parent can still kill it afterwards."""
    if os.geteuid() != 0 or not _has(_CAP_KILL):
        return
    with contextlib.suppress(OSError):  # a container may have only one account, or not allow the change
        follows = ctypes.c_int()
        prctl(PR_GET_PDEATHSIG, ctypes.byref(follows))
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        prctl(PR_SET_PDEATHSIG, follows.value)  # changing the account has cleared it
        prctl(PR_SET_DUMPABLE, 1)  # else /proc/self, where namespaces are set up, would belong to root


def drop_capabilities() -> None:
    """Give up all capabilities, including those inside its own user namespace, and forbids memory dumps."""
    with contextlib.suppress(OSError):
        call("capset", _header(), (ctypes.c_uint32 * 6)())
    prctl(PR_SET_DUMPABLE, 0)


def _has(capability: int) -> bool:
    effective = (ctypes.c_uint32 * 6)()
    call("capget", _header(), effective)
    return bool(effective[0] >> capability & 1)


def _header() -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
