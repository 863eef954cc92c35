"""A root folder that contains only the readable folders. Needs a mount namespace of its own."""

import os
from collections.abc import Sequence
from pathlib import Path

from paraph.confinement.libc import call

_READ_ONLY, _NO_SUID, _NO_DEVICES, _NO_PROGRAMS, _AGAIN = 0x1, 0x2, 0x4, 0x8, 0x20
_BIND, _WITH_ALL_BELOW, _PRIVATE, _DETACH = 0x1000, 0x4000, 0x40000, 0x2
_HARMLESS = _NO_SUID | _NO_DEVICES | _NO_PROGRAMS
_PLACE = "/proc"  # where the new root is built: every system has this folder, and nothing here needs it


def replace(readable: Sequence[str], *, programs: bool) -> None:
    """Replace the root folder of this process. On ``OSError`` the old one stays. ``programs``: whether programs in the
    readable folders may run."""
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
