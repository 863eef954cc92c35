"""A filter of system calls: few are allowed, others fail with EPERM, threads with ENOSYS, hostile ones end the process.

https://docs.kernel.org/userspace-api/seccomp_filter.html. A program of classic BPF judges each call by its number, its
architecture and the lower half of an argument, which is all that the kernel itself uses of the arguments judged here.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Iterator

from paraph.confinement.libc import PR_SET_SECCOMP, prctl
from paraph.confinement.system_calls import (
    ARCHITECTURES,
    HARMLESS,
    HOSTILE,
    JUDGED,
    MISSING,
    READING_FOLDERS,
    STARTING,
    Numbers,
)

_MODE_FILTER = 2
_LOAD, _EQUALS, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in ``seccomp_data``
_ALLOW, _REFUSE, _END = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_LACK = 0x00050000 | errno.ENOSYS
_CHANGES = 0o3 | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_TMPFILE", 0) & ~getattr(os, "O_DIRECTORY", 0)
_F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_DUPFD_CLOEXEC = 0, 1, 2, 3, 1030

_Instruction = tuple[int, int, int, int]
"""Code, instructions to skip if true, instructions to skip if false, operand."""


def install(*, opening: bool, programs: bool) -> None:
    """Install the filter. ``opening``: whether files may be opened for reading, ``programs``: whether this process may
    become another program. Needs "no new privileges". Raises
    ``OSError``, also on an architecture that is not listed."""
    machine = os.uname().machine
    if machine not in ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no filter is written for {machine}")
    code = b"".join(
        struct.pack("HBBI", *instruction) for instruction in program(*ARCHITECTURES[machine], opening, programs)
    )
    memory = ctypes.create_string_buffer(code, len(code))
    described = ctypes.create_string_buffer(struct.pack("HP", len(code) // 8, ctypes.addressof(memory)))
    prctl(PR_SET_SECCOMP, _MODE_FILTER, described)


def program(architecture: int, column: int, opening: bool, programs: bool = False) -> Iterator[_Instruction]:
    """Yield the instructions of the filter for one of :data:`ARCHITECTURES`."""

    def numbers(calls: Numbers) -> Iterator[int]:
        return (number for of_call in calls.values() if (number := of_call[column]) is not None)

    def judged(name: str) -> list[int]:
        return list(numbers({name: JUDGED[name]}))

    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUALS, 1, 0, architecture
    yield _RETURN, 0, 0, _END
    yield _LOAD, 0, 0, _NUMBER
    yield from _answered(numbers(HARMLESS), _ALLOW)
    yield from _if_one_of(judged("fcntl"), 1, (_F_DUPFD_CLOEXEC, _F_GETFL, _F_GETFD, _F_SETFD, _F_DUPFD))
    yield from _if_one_of(judged("prlimit64"), 0, (0,))  # its own limits
    yield from _if_one_of(judged("tgkill"), 0, (os.getpid(),))  # abort()
    if opening:
        yield from _answered(numbers(READING_FOLDERS), _ALLOW)
        yield from _if_no_bit(judged("openat"), 2, _CHANGES)
        yield from _if_no_bit(judged("open"), 1, _CHANGES)
    if programs:
        yield from _answered(numbers(STARTING), _ALLOW)
    yield from _answered(numbers(MISSING), _LACK)
    yield from _answered(numbers(HOSTILE), _END)
    yield _RETURN, 0, 0, _REFUSE


def _answered(numbers: Iterable[int], answer: int) -> Iterator[_Instruction]:
    for number in numbers:
        yield _EQUALS, 0, 1, number
        yield _RETURN, 0, 0, answer


def _if_one_of(numbers: Iterable[int], argument: int, values: tuple[int, ...]) -> Iterator[_Instruction]:
    for number in numbers:
        yield _EQUALS, 0, 2 + 2 * len(values), number
        yield _LOAD, 0, 0, _ARGUMENTS + 8 * argument
        yield from _answered(values, _ALLOW)
        yield _RETURN, 0, 0, _REFUSE


def _if_no_bit(numbers: Iterable[int], argument: int, bits: int) -> Iterator[_Instruction]:
    for number in numbers:
        yield _EQUALS, 0, 4, number
        yield _LOAD, 0, 0, _ARGUMENTS + 8 * argument
        yield _ANY_BIT, 0, 1, bits
        yield _RETURN, 0, 0, _REFUSE
        yield _RETURN, 0, 0, _ALLOW
