"""What a hijacked reader would try. Each attempt raises OSError where it is refused.

``facts``: ``secret`` (a file), ``folder`` of the service, ``tcp`` (its port), ``database`` (its Unix socket),
``abstract`` (the name of a socket), ``scratch`` (a folder) and ``file`` (in it, may be lost), ``victim`` (a process
with ``address`` and ``length`` of a secret in its memory).
"""

import ctypes
import fcntl
import os
import platform
import resource
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

Facts = dict[str, Any]

_libc = ctypes.CDLL(None, use_errno=True)
_ARM = platform.machine() == "aarch64"


def call(number: int, arm: int, *arguments: Any) -> int:
    """Make a system call by its number on x86-64 or on ARM."""
    passed = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result = int(_libc.syscall(ctypes.c_long(arm if _ARM else number), *passed))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def connect(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> None:
    with socket.socket(family, kind) as connection:
        connection.connect(address)


def read_memory(facts: Facts) -> None:
    with Path(f"/proc/{facts['victim']}/mem").open("rb", 0) as memory:
        memory.seek(facts["address"])
        memory.read(facts["length"])


class _Piece(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def copy_memory(facts: Facts) -> None:
    buffer = ctypes.create_string_buffer(facts["length"])
    here = _Piece(ctypes.addressof(buffer), facts["length"])
    there = _Piece(facts["address"], facts["length"])
    call(310, 270, facts["victim"], ctypes.byref(here), 1, ctypes.byref(there), 1, 0)


def trace(facts: Facts) -> None:
    call(101, 117, 0x4206, facts["victim"], 0, 0)  # PTRACE_SEIZE


FILES: dict[str, Callable[[Facts], Any]] = {
    "read the secret": lambda facts: Path(facts["secret"]).read_bytes(),
    "list the data folder": lambda facts: list(Path(facts["folder"]).iterdir()),
    "read the environment of the service": lambda facts: Path(f"/proc/{facts['victim']}/environ").read_bytes(),
    "read the memory of the service": read_memory,
    "read the environment of the first process": lambda _: Path("/proc/1/environ").read_bytes(),
    "read a file of the system": lambda _: Path("/etc/passwd").read_bytes(),
    "write a file": lambda facts: Path(facts["scratch"], "written").write_bytes(b"x"),
    "make a folder": lambda facts: Path(facts["scratch"], "made").mkdir(),
    "cut a file": lambda facts: os.truncate(facts["file"], 0),
    "rename a file": lambda facts: Path(facts["file"]).rename(facts["file"]),
    "remove a file": lambda facts: Path(facts["file"]).unlink(),
    "open a device": lambda _: os.open("/dev/ptmx", os.O_RDWR),
}
NETWORK: dict[str, Callable[[Facts], Any]] = {
    "connect to the service": lambda facts: connect(socket.AF_INET, ("127.0.0.1", facts["tcp"])),
    "connect to the database": lambda facts: connect(socket.AF_UNIX, facts["database"]),
    "connect to an abstract socket": lambda facts: connect(socket.AF_UNIX, "\0" + facts["abstract"]),
    "listen on a port": lambda _: socket.create_server(("127.0.0.1", 0)),
}
PROCESSES: dict[str, Callable[[Facts], Any]] = {
    "signal the service": lambda facts: os.kill(facts["victim"], 0),
    "trace the service": trace,
    "copy memory of the service": copy_memory,
    "run a program": lambda _: os.execv("/bin/true", ["true"]),
}
CALLS: dict[str, Callable[[Facts], Any]] = {
    "open a socket": lambda _: socket.socket(),
    "ask the kernel for its routes": lambda _: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
    "fork": lambda _: os.fork() or os._exit(0),
    "see the limits of the service": lambda facts: resource.prlimit(facts["victim"], resource.RLIMIT_CPU),
    "have the service signalled": lambda facts: fcntl.fcntl(0, fcntl.F_SETOWN, facts["victim"]),
    "make a file in memory": lambda _: os.memfd_create("program"),
    "make namespaces": lambda _: call(272, 97, 0x10000000),
    "enter namespaces": lambda _: call(308, 268, 0, 0),
    "mount": lambda _: call(165, 40, b"none", b"/nowhere", b"tmpfs", 0, 0),
    "open a ring of calls": lambda _: call(425, 425, 1, ctypes.create_string_buffer(120)),
    "load a program into the kernel": lambda _: call(321, 280, 0, ctypes.create_string_buffer(64), 64),
    "read a key": lambda _: call(250, 219, 0, -3, 1),
    "count events": lambda _: call(298, 241, ctypes.create_string_buffer(128), 0, -1, -1, 0),
    "handle page faults": lambda _: call(323, 282, 0),
    "open a process": lambda facts: call(434, 434, facts["victim"], 0),
    "become dumpable": lambda _: call(157, 167, 4, 1, 0, 0, 0),
    "leave its parent": lambda _: call(157, 167, 1, 0, 0, 0, 0),
}
ALL = {**FILES, **NETWORK, **PROCESSES, **CALLS}
