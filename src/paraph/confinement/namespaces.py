"""Namespaces of its own: no network, no shared memory, no folder of the machine but a few to be read.

A process gets them by right (root) or with a user namespace, in which it has the right. Containers mostly allow
neither.
"""

import contextlib
import os
from collections.abc import Sequence

from paraph.confinement import account, root_folder
from paraph.confinement.libc import call

_MOUNTS, _NAMES, _MEMORY, _USERS, _NETWORK = 0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x40000000
_ALL_BUT_USERS = _MOUNTS | _NAMES | _MEMORY | _NETWORK


def enter(readable: Sequence[str]) -> None:
    """Raises OSError where one of them, or the root folder, is not to be had; the others may be on all the same."""
    if _by_right():
        root_folder.replace(readable)
        account.leave_root()
        with contextlib.suppress(OSError):  # nobody's rights are few, where machines allow no user namespaces
            call("unshare", _USERS)
        return
    account.leave_root()
    user, group = os.geteuid(), os.getegid()
    call("unshare", _USERS | _ALL_BUT_USERS)
    _write("setgroups", "deny")  # without it, groups cannot be mapped
    _write("uid_map", f"{user} {user} 1")
    _write("gid_map", f"{group} {group} 1")
    root_folder.replace(readable)


def _by_right() -> bool:
    if os.geteuid() != 0:
        return False
    try:
        call("unshare", _ALL_BUT_USERS)
    except OSError:  # root of a container
        return False
    return True


def _write(file: str, text: str) -> None:
    descriptor = os.open(f"/proc/self/{file}", os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
