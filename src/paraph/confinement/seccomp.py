"""A filter of system calls: few are allowed, others fail with EPERM, threads with ENOSYS, hostile ones end the process.

https://docs.kernel.org/userspace-api/seccomp_filter.html. A program of classic BPF checks each call by its number, its
architecture and the lower half of an argument, which is all that the kernel itself uses of the arguments checked here.
The numbers on x86-64 and on 64-bit ARM are those of the kernel's tables (``asm/unistd_64.h``,
``asm-generic/unistd.h``), None where an architecture lacks the call.
"""

import errno
import os
from collections.abc import Iterable, Iterator

ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""The number in ``seccomp_data`` and the column in the tables below, by the name that ``uname`` gives."""

Numbers = dict[str, tuple[int | None, int | None]]

HARMLESS: Numbers = {
    # open descriptors: a socket to the parent, the file to read
    "read": (0, 63), "pread64": (17, 67), "readv": (19, 65), "write": (1, 64), "writev": (20, 66), "lseek": (8, 62),
    "close": (3, 57), "fstat": (5, 80), "newfstatat": (262, 79), "stat": (4, None), "lstat": (6, None),
    "statx": (332, 291), "fadvise64": (221, 223), "recvmsg": (47, 212), "recvfrom": (45, 207), "sendto": (44, 206),
    "poll": (7, None), "ppoll": (271, 73),
    # the memory of the process
    "brk": (12, 214), "mmap": (9, 222), "munmap": (11, 215), "mremap": (25, 216), "mprotect": (10, 226),
    "madvise": (28, 233), "futex": (202, 98),
    # clocks, randomness, facts about the process
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101),
    "gettimeofday": (96, 169), "time": (201, None), "times": (100, 153), "getrusage": (98, 165),
    "getrandom": (318, 278), "getpid": (39, 172), "gettid": (186, 178), "getppid": (110, 173), "getuid": (102, 174),
    "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getcpu": (309, 168),
    "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "sysinfo": (99, 179), "uname": (63, 160),
    # signals to itself, and exit
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "restart_syscall": (219, 128), "exit": (60, 93), "exit_group": (231, 94),
}  # fmt: skip

READING_FOLDERS: Numbers = {"getdents64": (217, 61)}

STARTING: Numbers = {
    "execve": (59, 221), "arch_prctl": (158, None), "set_tid_address": (218, 96), "set_robust_list": (273, 99),
    "rseq": (334, 293), "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439),
    "readlink": (89, None), "readlinkat": (267, 78), "getcwd": (79, 17), "statfs": (137, 43), "fstatfs": (138, 44),
}  # fmt: skip
"""Calls needed to become another program, and to find its libraries and fonts."""

CHECKED: Numbers = {
    "open": (2, None), "openat": (257, 56), "fcntl": (72, 25), "prlimit64": (302, 261), "tgkill": (234, 131),
}  # fmt: skip
"""Calls that are harmless only with certain arguments."""

MISSING: Numbers = {"clone": (56, 220), "clone3": (435, 435)}
"""Calls answered as by a kernel that lacks them: libraries then go on with the one thread they have."""

HOSTILE: Numbers = {
    "execve": (59, 221), "execveat": (322, 281), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438), "unshare": (272, 97), "setns": (308, 268),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "init_module": (175, 105), "finit_module": (313, 273), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
}  # fmt: skip
"""Calls that no reader makes by accident on any machine; making one ends the process."""


_LOAD, _EQUALS, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in ``seccomp_data``
_ALLOW, _REFUSE, _END = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_LACK = 0x00050000 | errno.ENOSYS
_CHANGES = 0o3 | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_TMPFILE", 0) & ~getattr(os, "O_DIRECTORY", 0)
_F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_DUPFD_CLOEXEC = 0, 1, 2, 3, 1030

_Instruction = tuple[int, int, int, int]
"""Code, instructions to skip if true, instructions to skip if false, operand."""


def program(architecture: int, column: int, opening: bool, programs: bool = False) -> Iterator[_Instruction]:
    """Yield the instructions of the filter for one of :data:`ARCHITECTURES`."""

    def numbers(calls: Numbers) -> Iterator[int]:
        return (number for of_call in calls.values() if (number := of_call[column]) is not None)

    def checked(name: str) -> list[int]:
        return list(numbers({name: CHECKED[name]}))

    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUALS, 1, 0, architecture
    yield _RETURN, 0, 0, _END
    yield _LOAD, 0, 0, _NUMBER
    yield from _answered(numbers(HARMLESS), _ALLOW)
    yield from _if_one_of(checked("fcntl"), 1, (_F_DUPFD_CLOEXEC, _F_GETFL, _F_GETFD, _F_SETFD, _F_DUPFD))
    yield from _if_one_of(checked("prlimit64"), 0, (0,))  # its own limits
    yield from _if_one_of(checked("tgkill"), 0, (os.getpid(),))  # abort()
    if opening:
        yield from _answered(numbers(READING_FOLDERS), _ALLOW)
        yield from _if_no_bit(checked("openat"), 2, _CHANGES)
        yield from _if_no_bit(checked("open"), 1, _CHANGES)
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
