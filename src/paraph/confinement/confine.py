"""The measures that confine a process: what they guarantee, and how they are taken in an order that works.

Namespaces leave it no network, no shared memory, and of the machine's folders only a few that can be read. Only root
may enter them, or a process in a user namespace of its own; most containers allow neither. Landlock leaves it only
files below these folders, no TCP, no signals or abstract sockets to other processes, as far as the kernel's version of
it goes (https://docs.kernel.org/userspace-api/landlock.html). :mod:`paraph.confinement.seccomp` filters system calls.
"""

import contextlib
import ctypes
import errno
import os
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraph.confinement import seccomp

MEASURES = ("namespaces", "Landlock", "seccomp")


@dataclass(frozen=True)
class Confinement:
    """How a process is confined. ``missing``: why a measure is not in force, by its name in :data:`MEASURES`."""

    missing: Mapping[str, str]

    @property
    def measures(self) -> list[str]:
        return [measure for measure in MEASURES if measure not in self.missing]

    @property
    def complete(self) -> bool:
        return not self.missing

    @property
    def holds(self) -> bool:
        """Whether network, files and programs are out of reach. Only the filter of system calls guarantees that:
        without the other measures, it lets no file be opened."""
        return "seccomp" not in self.missing

    @property
    def blind(self) -> bool:
        """Whether not even the readable folders can be read."""
        return self.measures == ["seccomp"]

    @property
    def sentence(self) -> str:
        names = ", ".join(self.measures)
        if self.holds:
            said = f"PDFs are read in processes without network, files or programs: {names}."
        elif names:
            said = f"PDFs are read in processes that are confined in part: {names}."
        else:
            said = "PDFs are read in processes that only limits of time and memory confine."
        reasons = "; ".join(f"{measure} ({reason})" for measure, reason in self.missing.items())
        lost = " So the fonts of this machine cannot be used: letters whose font is not in the file are not shown."
        return f"{said} Not to be had here: {reasons}.{lost if self.blind else ''}" if reasons else said


def confine(readable: Sequence[str] = (), *, programs: bool = False) -> Confinement:
    """Leave this process only its open descriptors, its memory, and read access to the files below ``readable``.

    This cannot be undone. The process must have a single thread and have imported whatever it needs. If neither
    namespaces nor Landlock can keep other files away, no file can be opened at all, not even in ``readable``.
    ``programs``: whether it may then become a program of one of these folders, under the same confinement. Raise
    nothing: the result says which measures are missing.
    """
    if sys.platform != "linux":
        return Confinement(dict.fromkeys(MEASURES, "this system has none"))
    missing: dict[str, str] = {}
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _attempt("namespaces", missing, lambda: _enter_namespaces(readable, programs=programs))
    _leave_root()
    _attempt("Landlock", missing, lambda: _restrict_files(readable, programs=programs))
    _drop_capabilities()
    opening = bool(readable) and not {"namespaces", "Landlock"} <= missing.keys()
    _attempt("seccomp", missing, lambda: _install_filter(opening=opening, programs=programs))
    return Confinement(missing)


def _attempt(measure: str, missing: dict[str, str], take: Callable[[], None]) -> None:
    try:
        take()
    except (OSError, AttributeError) as error:  # the kernel or the C library does not offer it
        missing[measure] = str(getattr(error, "strerror", None) or error)


_MOUNTS, _NAMES, _MEMORY, _USERS, _NETWORK = 0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x40000000
_ALL_BUT_USERS = _MOUNTS | _NAMES | _MEMORY | _NETWORK


def _enter_namespaces(readable: Sequence[str], *, programs: bool) -> None:
    """Enter the namespaces. Raise ``OSError`` when one of them or the new root is refused; others may be in force."""
    if _entered_as_root():
        _replace_root(readable, programs=programs)
        _leave_root()
        with contextlib.suppress(OSError):  # some machines allow no user namespaces; this account has few rights anyway
            _call("unshare", _USERS)
        return
    _leave_root()
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _USERS | _ALL_BUT_USERS)
    _write("setgroups", "deny")  # required before groups can be mapped
    _write("uid_map", f"{user} {user} 1")
    _write("gid_map", f"{group} {group} 1")
    _replace_root(readable, programs=programs)


def _entered_as_root() -> bool:
    if os.geteuid() != 0:
        return False
    try:
        _call("unshare", _ALL_BUT_USERS)
    except OSError:  # root inside a container
        return False
    return True


def _write(file: str, text: str) -> None:
    descriptor = os.open(f"/proc/self/{file}", os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


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
    _call("pivot_root", b".", b".")  # stacks the old root on the new one
    _call("umount2", b".", _DETACH)
    os.chdir("/")
    _mount(None, "/", None, _AGAIN | _BIND | _READ_ONLY | _HARMLESS)


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: bytes | None = None) -> None:
    _call("mount", source and source.encode(), target.encode(), kind and kind.encode(), flags, options)


_NOBODY = 65534
_CAP_KILL = 5
_CAPABILITIES_V3 = 0x20080522


def _leave_root() -> None:
    """Become an account that owns nothing, if this process is root and its parent can still kill it afterwards."""
    effective = (ctypes.c_uint32 * 6)()
    if os.geteuid() == 0:
        _call("capget", _header(), effective)
    if not effective[0] >> _CAP_KILL & 1:
        return
    with contextlib.suppress(OSError):  # a container may have only one account, or not allow the change
        follows = ctypes.c_int()
        _prctl(_PR_GET_PDEATHSIG, ctypes.byref(follows))
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        _prctl(_PR_SET_PDEATHSIG, follows.value)  # changing the account has cleared it
        _prctl(_PR_SET_DUMPABLE, 1)  # else /proc/self, where namespaces are set up, would belong to root


def _drop_capabilities() -> None:
    """Give up all capabilities, including those in the process's own user namespace, and forbid memory dumps."""
    with contextlib.suppress(OSError):
        _call("capset", _header(), (ctypes.c_uint32 * 6)())
    _prctl(_PR_SET_DUMPABLE, 0)


def _header() -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)


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


def _restrict_files(readable: Sequence[str], *, programs: bool) -> None:
    """Let this process do no more with files than read those below ``readable``, and run them if ``programs``. Needs
    "no new privileges". Raise ``OSError``."""
    version = _call("syscall", _CREATE_RULESET, None, 0, _TELL_VERSION)
    ruleset = _call("syscall", _CREATE_RULESET, *_refused(version), 0)
    try:
        for folder in filter(os.path.isdir, readable):
            _allow(ruleset, folder, _READ_FILE | _READ_FOLDER | (_RUN if programs else 0))
        _call("syscall", _RESTRICT_SELF, ruleset, 0)
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
        _call("syscall", _ADD_RULE, ruleset, _BELOW_PATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)


def _install_filter(*, opening: bool, programs: bool) -> None:
    """Install the filter of system calls. ``opening``: whether files may be opened for reading, ``programs``: whether
    this process may become another program. Needs "no new privileges". Raise ``OSError``, also on an architecture that
    is not listed."""
    machine = os.uname().machine
    if machine not in seccomp.ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no filter is written for {machine}")
    instructions = seccomp.program(*seccomp.ARCHITECTURES[machine], opening, programs)
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    memory = ctypes.create_string_buffer(code, len(code))
    described = ctypes.create_string_buffer(struct.pack("HP", len(code) // 8, ctypes.addressof(memory)))
    _prctl(_PR_SET_SECCOMP, _MODE_FILTER, described)


_PR_SET_PDEATHSIG = 1
_PR_GET_PDEATHSIG = 2
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_MODE_FILTER = 2
_LIBRARY = ctypes.CDLL(None, use_errno=True)


def _call(function: str, *arguments: Any) -> int:
    """Call a function with numbers passed as ``long``, and return its result. Raise ``OSError`` if that is negative."""
    passed = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = int(getattr(_LIBRARY, function)(*passed))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _prctl(option: int, value: Any = 0, other: Any = 0) -> None:
    """Call ``prctl``. Raise ``OSError``."""
    _call("prctl", option, value, other, 0, 0)
