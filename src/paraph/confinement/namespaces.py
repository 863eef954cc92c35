"""Separate namespaces: no network, no shared memory, no folders of the machine but a few that can be read.

Only root may enter them, or a process in a user namespace of its own. Most containers allow neither.
"""

import contextlib
import os
from collections.abc import Sequence

from paraph.confinement import account, root_folder
from paraph.confinement.libc import call

_MOUNTS, _NAMES, _MEMORY, _USERS, _NETWORK = 0x00020000, 0x04000000, 0x08000000, 0x10000000, 0x40000000
_ALL_BUT_USERS = _MOUNTS | _NAMES | _MEMORY | _NETWORK


def enter(readable: Sequence[str], *, programs: bool) -> None:
    """Enter the namespaces. Raise ``OSError`` when one of them or the new root folder is refused; some of them may be
    in force all the same."""
    if _entered_as_root():
        root_folder.replace(readable, programs=programs)
        account.leave_root()
        with contextlib.suppress(OSError):  # some machines allow no user namespaces; this account has few rights anyway
            call("unshare", _USERS)
        return
    account.leave_root()
    user, group = os.geteuid(), os.getegid()
    call("unshare", _USERS | _ALL_BUT_USERS)
    _write("setgroups", "deny")  # required before groups can be mapped
    _write("uid_map", f"{user} {user} 1")
    _write("gid_map", f"{group} {group} 1")
    root_folder.replace(readable, programs=programs)


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
