"""Whose rights a process has: none of root's, and none that a namespace of its own would give it."""

import contextlib
import ctypes
import os

from paraph.confinement.libc import PR_GET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_PDEATHSIG, call, prctl

_NOBODY = 65534
_CAP_KILL = 5
_CAPABILITIES_V3 = 0x20080522


def leave_root() -> None:
    """As root: become an account that owns nothing, if the parent can still end us then. Else nothing."""
    if os.geteuid() != 0 or not _has(_CAP_KILL):
        return
    with contextlib.suppress(OSError):  # a container may know only one account, or not allow it
        follows = ctypes.c_int()
        prctl(PR_GET_PDEATHSIG, ctypes.byref(follows))
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        prctl(PR_SET_PDEATHSIG, follows.value)  # the kernel forgets it with the account
        prctl(PR_SET_DUMPABLE, 1)  # else /proc/self would be root's, and namespaces are set up there


def drop_capabilities() -> None:
    """Not even those inside a user namespace of its own. And nobody's dump holds what is read here."""
    with contextlib.suppress(OSError):
        call("capset", _header(), (ctypes.c_uint32 * 6)())
    prctl(PR_SET_DUMPABLE, 0)


def _has(capability: int) -> bool:
    effective = (ctypes.c_uint32 * 6)()
    call("capget", _header(), effective)
    return bool(effective[0] >> capability & 1)


def _header() -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
