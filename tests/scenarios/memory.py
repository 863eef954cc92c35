"""The peak memory of the web processes of a running service and of those that read PDFs for them (Linux)."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_EVERY = 0.1  # seconds: a process that reads PDFs may soon be gone


class Peaks:
    """``web`` and ``reading``: the highest resident bytes that one process of the kind ever had."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._stop = threading.Event()
        self._looking = threading.Lock()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._kinds: dict[int, str] = {}
        self._peaks: dict[str, dict[int, int]] = {"web": defaultdict(int), "reading": defaultdict(int)}

    @property
    def web(self) -> int:
        with self._looking:
            return max(self._peaks["web"].values())

    @property
    def reading(self) -> int:
        with self._looking:
            return max(self._peaks["reading"].values(), default=0)

    def start(self) -> None:
        for pid in _below(self._root):
            _forget(pid)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        self.look()

    def _watch(self) -> None:
        while not self._stop.wait(_EVERY):
            self.look()

    def look(self) -> None:
        """Looks now, as it does ten times a second by itself."""
        with self._looking:
            self._see()

    def _see(self) -> None:
        for pid in _below(self._root):
            if kind := self._kinds.get(pid) or _kind(pid):
                self._kinds[pid] = kind
                self._peaks[kind][pid] = max(self._peaks[kind][pid], _peak(pid))


@contextmanager
def watched(root: int) -> Iterator[Peaks]:
    """Everything below the process ``root``, from now to the end of the block."""
    peaks = Peaks(root)
    peaks.start()
    try:
        yield peaks
    finally:
        peaks.stop()


def _below(root: int) -> list[int]:
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        with suppress(OSError):  # it may be gone at any moment
            for children in list(Path(f"/proc/{pid}/task").glob("*/children")):
                with suppress(OSError):
                    waiting += [int(child) for child in children.read_text().split()]
        found.append(pid)
    return found


def _kind(pid: int) -> str:
    try:
        if b"paraph.pdf.untrusted.jobs.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
            return "reading"
        return "web" if Path(f"/proc/{pid}/comm").read_text().strip() == "paraph-web" else ""
    except OSError:
        return ""


def _peak(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def _forget(pid: int) -> None:
    """Lets the peak begin at what is resident now (proc(5), clear_refs)."""
    with suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5")
