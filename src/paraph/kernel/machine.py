"""This machine, or the container in which the service runs: its resources, and the life of child processes."""

import ctypes
import os
import resource
import signal
import sys
import time
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_MOST_CONNECTIONS, _OTHER_FILES = 4096, 512


def cores() -> int:
    """Return the number of usable processors, by affinity and by the container's quota; at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _limit("cpu.max").partition(" ")
    if quota.isdigit() and period.isdigit():
        allowed = min(allowed, -(-int(quota) // int(period)))
    return max(allowed, 1)


def memory_bytes() -> int:
    """Return the memory of the machine, or the container's limit if that is lower."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _limit("memory.max")
    return min(total, int(limit)) if limit.isdigit() else total


def connections() -> int:
    """Return how many connections to clients a process may have at most, given the number of files that it may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    return max(128, min(_MOST_CONNECTIONS, files - _OTHER_FILES))


def raise_file_limit() -> None:
    """Raise the limit of open files to what the most connections need, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_CONNECTIONS + _OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _limit(name: str) -> str:
    try:
        return (_CGROUP / name).read_text().strip()
    except OSError:
        return ""


SERVICE_BEGAN = time.monotonic()
"""Monotonic time at which the first process of this service started; forked processes share it."""
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15


def follow_parent(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Have the kernel send the signal ``number`` to this process when the thread that forked it ends. To be called
    first in a child of the process ``parent``. Does nothing on systems other than Linux, where a killed supervisor
    leaves its children running."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:  # the parent ended before the line above
        os.kill(os.getpid(), number)


def name_process(name: str) -> None:
    """Set the name that ``ps`` and ``top`` show, cut to 15 bytes. Does nothing on systems other than Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0)
