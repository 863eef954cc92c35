"""What this machine, or the container we run in, has to give."""

import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


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


def _limit(name: str) -> str:
    try:
        return (_CGROUP / name).read_text().strip()
    except OSError:
        return ""
