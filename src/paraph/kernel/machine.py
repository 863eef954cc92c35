"""What this machine, or the container we run in, has to give."""

import os
import resource
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_MOST_CONNECTIONS, _OWN_FILES = 4096, 512
_FILES_EACH = 2  # of a connection: who looks at it holds a copy for a moment


def cores() -> int:
    """Processors that we may use: affinity and the container's quota counted, at least 1."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _limit("cpu.max").partition(" ")
    if quota.isdigit() and period.isdigit():
        allowed = min(allowed, -(-int(quota) // int(period)))
    return max(allowed, 1)


def memory_bytes() -> int:
    """Memory of the machine, or the container's limit where that is lower."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _limit("memory.max")
    return min(total, int(limit)) if limit.isdigit() else total


def connections() -> int:
    """How many connections a process may have to clients: files that it may open, less what it needs itself."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    return max(128, min(_MOST_CONNECTIONS, (files - _OWN_FILES) // _FILES_EACH))


def raise_file_limit() -> None:
    """To what connections take, where the system lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES_EACH * _MOST_CONNECTIONS + _OWN_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _limit(name: str) -> str:
    try:
        return (_CGROUP / name).read_text().strip()
    except OSError:
        return ""
