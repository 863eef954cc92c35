"""Separate namespaces, and an account without rights: no network, no shared memory, no folders of the machine but a few
that can be read.

Only root may enter namespaces, or a process in a user namespace of its own. Most containers allow neither.
"""

import contextlib
import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

from paraph.confinement.libc import PR_GET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_PDEATHSIG, call, prctl

_NOBODY = 65534
_CAP_KILL = 5
_CAPABILITIES_V3 = 0x20080522


def leave_root() -> None:
    """Become an account that owns nothing, if this process is root and its parent can still kill it afterwards."""
    effective = (ctypes.c_uint32 * 6)()
    if os.geteuid() == 0:
        call("capget", _header(), effective)
    if not effective[0] >> _CAP_KILL & 1:
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
    """Give up all capabilities, including those in the process's own user namespace, and forbid memory dumps."""
    with contextlib.suppress(OSError):
        call("capset", _header(), (ctypes.c_uint32 * 6)())
    prctl(PR_SET_DUMPABLE, 0)


def _header() -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)


_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_PROGRAMS, _AGAIN = 0x1, 0x2, 0x4, 0x8, 0x20
_BIND, _WITH_ALL_BELOW, _PRIVATE, _DETACH = 0x1000, 0x4000, 0x40000, 0x2
_HARMLESS = _NO_SUID | _NO_DEVICES | _NO_PROGRAMS
_PLACE = "/proc"  # where the new root is built: every system has this folder, and nothing here needs it


def _replace_root(readable: Sequence[str], *, programs: bool) -> None:
    """Replace the root folder, or keep the old one on ``OSError``. ``programs``: those in ``readable`` may run."""
    flags = _AGAIN | _BIND | _READ_ONLY | (_HARMLESS & ~_NO_PROGRAMS if programs else _HARMLESS)
    _mount(None, "/", None, _WITH_ALL_BELOW | _PRIVATE)  # mounts below stay within this namespace
    _mount("tmpfs", _PLACE, "tmpfs", _HARMLESS, b"size=64k,mode=755")
    for folder in filter(os.path.isdir, readable):
        inside = Path(_PLACE + folder)
        inside.mkdir(parents=True)
        _mount(os.path.realpath(folder), str(inside), None, _BIND | _WITH_ALL_BELOW)
        _mount(None, str(inside), None, flags)
    os.chdir(_PLACE)
    call("pivot_root", b".", b".")  # stacks the old root on the new one
    call("umount2", b".", _DETACH)
    os.chdir("/")
    _mount(None, "/", None, _AGAIN | _BIND | _READ_ONLY | _HARMLESS)


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: bytes | None = None) -> None:
    call("mount", source and source.encode(), target.encode(), kind and kind.encode(), flags, options)


_MOUNTS, _NAMES, _MEMORY, _USERS, _NETWORK = 0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x40000000
_ALL_BUT_USERS = _MOUNTS | _NAMES | _MEMORY | _NETWORK


def enter(readable: Sequence[str], *, programs: bool) -> None:
    """Enter the namespaces. Raise ``OSError`` when one of them or the new root is refused; others may be in force."""
    if _entered_as_root():
        _replace_root(readable, programs=programs)
        leave_root()
        with contextlib.suppress(OSError):  # some machines allow no user namespaces; this account has few rights anyway
            call("unshare", _USERS)
        return
    leave_root()
    user, group = os.geteuid(), os.getegid()
    call("unshare", _USERS | _ALL_BUT_USERS)
    _write("setgroups", "deny")  # required before groups can be mapped
    _write("uid_map", f"{user} {user} 1")
    _write("gid_map", f"{group} {group} 1")
    _replace_root(readable, programs=programs)


def _entered_as_root() -> bool:
    if os.geteuid() != 0:
        return False
    try:
        call("unshare", _ALL_BUT_USERS)
    except OSError:  # root inside a container
        return False
    return True


def _write(file: str, text: str) -> None:
    descriptor = os.open(f"/proc/self/{file}", os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
