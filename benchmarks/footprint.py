"""What the processes of a service use: processor time and memory, by kind, from /proc."""

import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Footprint:
    """By kind of process: ``seconds`` of processor time so far, ``megabytes`` of the largest (proportional set
    size, so that shared pages count once)."""

    seconds: dict[str, float]
    megabytes: dict[str, float]


def footprint(root: int, memory: bool = True) -> Footprint:
    """Of the process ``root`` and everything below it, and of this process (``client``)."""
    seconds: dict[str, float] = defaultdict(float)
    megabytes: dict[str, float] = defaultdict(float)
    for pid, kind in [*_below(root), (os.getpid(), "client")]:
        try:
            seconds[kind] += _seconds(pid)
            if memory:
                megabytes[kind] = max(megabytes[kind], _megabytes(pid))
        except OSError:
            continue  # it has ended meanwhile
    return Footprint(dict(seconds), dict(megabytes))


def _below(root: int) -> list[tuple[int, str]]:
    parents, kinds = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(_stat(int(entry.name))[1])
                kinds[int(entry.name)] = _kind(entry)
            except OSError:
                continue
    found, left = [], [root]
    while left:
        pid = left.pop()
        found.append((pid, kinds.get(pid, "?")))
        left += [child for child, parent in parents.items() if parent == pid]
    return found


def _kind(entry: Path) -> str:
    command = (entry / "cmdline").read_bytes()
    if b"jobs.worker" in command:
        return "sandbox"
    name = (entry / "comm").read_text().strip()
    return name if name.startswith(("paraph-", "postgres")) else "supervisor"


def _seconds(pid: int) -> float:
    """With those of its children that have ended."""
    return sum(map(int, _stat(pid)[11:15])) / _TICK


def _stat(pid: int) -> list[str]:
    """The fields of ``/proc/pid/stat`` after the name: state, parent, …"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _megabytes(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0
