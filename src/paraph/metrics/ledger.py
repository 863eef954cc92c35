"""A file of numbers that one process writes and others read, so that nothing is lost when the process ends.

The file is a sequence of records: the length of the key, the count of numbers, the key (UTF-8, padded with spaces to a
multiple of 8), the numbers (float64). It is written by plain calls and never mapped: on a full disk a write fails,
whereas touching a page of a mapped file would end the process (SIGBUS).

The process holds a lock on its file until it ends. The next process that begins takes the file over and continues its
numbers: there are never more files than there were processes at the same time.
"""

import fcntl
import os
import struct
import threading
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree

from django.conf import settings

from paraph.kernel import tokens

_HEAD = struct.Struct("=II")

_Key = tuple[str, int]  # the key and its count of numbers, which may differ in another version of the service
Sums = dict[_Key, list[float]]


class Ledger:
    """A thread-safe writer. ``path``: a file that does not exist yet, in a folder of ledgers. The first addition makes
    it, or takes over a file of the folder whose process has ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._adding, self._writing = threading.Lock(), threading.Lock()
        self._file: int | None = None
        self._end = 0
        self._numbers: Sums = {}
        self._offsets: dict[_Key, int] = {}  # where the numbers of each key are in the file
        self._unwritten: set[_Key] = set()

    def add(self, key: str, amounts: Mapping[int, float], width: int) -> None:
        """Add ``amounts``, by position, to the ``width`` numbers of the key. If the disk refuses the write, the next
        addition to the key writes them.

        One thread writes at a time, also what others add meanwhile, so that nobody waits for a write: the thread that
        writes lets go of the interpreter, and may get it back late."""
        with self._adding:
            numbers = self._numbers.setdefault((key, width), [0.0] * width)
            for position, amount in amounts.items():
                numbers[position] += amount
            self._unwritten.add((key, width))
        while self._unwritten and self._writing.acquire(blocking=False):
            try:
                self._write_all()
            finally:
                self._writing.release()

    def _write_all(self) -> None:
        while self._unwritten:
            with suppress(OSError):
                self._write(self._unwritten.pop())

    def _write(self, key: _Key) -> None:
        if self._file is None:
            self._file = self._open()
        with self._adding:
            numbers = array("d", self._numbers[key]).tobytes()
        if key in self._offsets:
            os.pwrite(self._file, numbers, self._offsets[key])
            return
        name = key[0].encode()
        name += b" " * (-len(name) % 8)
        whole = _HEAD.pack(len(name), key[1]) + name + numbers
        if os.pwrite(self._file, whole, self._end) == len(whole):  # else the next record is written over it
            self._end += len(whole)
            self._offsets[key] = self._end - len(numbers)

    def _open(self) -> int:
        """Return the file, which is locked before another process can find it."""
        folder = self._path.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _in_turn(folder, fcntl.LOCK_EX):
            for file in _files(folder):
                with suppress(OSError):  # its process is alive, or belonged to another user
                    taken = _locked(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self._take_over(file)
                    return taken
            return _locked(self._path, fcntl.LOCK_EX, os.O_CREAT | os.O_EXCL)

    def _take_over(self, file: Path) -> None:
        records = list(read(file))
        file.rename(self._path)
        with self._adding:
            for key, offset, numbers in records:
                self._numbers[key] = _added(numbers, self._numbers.get(key))
                self._offsets[key] = offset
                self._end = offset + 8 * len(numbers)

    def close(self) -> None:
        """Release the file, so that another process can take it over."""
        if self._file is not None:
            os.close(self._file)


def read(path: Path) -> Iterator[tuple[_Key, int, list[float]]]:
    """Yield each key with the position of its numbers and the numbers, up to an incomplete record. Raise
    ``OSError``."""
    data, position = path.read_bytes(), 0
    while position + _HEAD.size <= len(data):
        length, width = _HEAD.unpack_from(data, position)
        offset = position + _HEAD.size + length
        position = offset + 8 * width
        if position > len(data) or not length:
            return
        name = data[offset - length : offset].decode(errors="replace").rstrip()
        yield (name, width), offset, list(struct.unpack_from(f"={width}d", data, offset))


def folder() -> Path:
    path: Path = settings.DATA_DIR / "metrics"
    return path


def ledger() -> Ledger:
    """Return the ledger of this process, made at the first call."""
    if not _ledgers:
        _ledgers.append(Ledger(folder() / f"{os.getpid()}-{tokens.random_hex(8)}.metrics"))
    return _ledgers[0]


def sums() -> Sums:
    """Return the numbers of all processes that count in this data folder, or did until they ended."""
    found: Sums = {}
    with suppress(FileNotFoundError), _in_turn(folder(), fcntl.LOCK_SH):  # not found: nobody has counted
        for file in _files(folder()):
            with suppress(OSError):
                for key, _, numbers in read(file):
                    found[key] = _added(numbers, found.get(key))
    return found


def process_ids() -> list[int]:
    """Return the ids of the processes that have a ledger here, each on its machine; some may have ended."""
    return sorted({int(file.name.partition("-")[0]) for file in _files(folder())})


def forget() -> None:
    """Remove all ledgers. To be called only while no other process of the service runs."""
    rmtree(folder(), ignore_errors=True)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*-*.metrics"))


def _added(some: list[float], others: list[float] | None) -> list[float]:
    return [a + b for a, b in zip(some, others, strict=True)] if others else some


def _locked(file: Path, how: int, flags: int = 0) -> int:
    """Open the file and lock it. Raise ``OSError``."""
    handle = os.open(file, flags | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, how)
    except OSError:
        os.close(handle)
        raise
    return handle


@contextmanager
def _in_turn(folder: Path, how: int) -> Iterator[None]:
    """Lock the folder, so that files keep their names while they are read; a process that takes one over is alone."""
    handle = _locked(folder / "lock", how, os.O_CREAT)
    try:
        yield
    finally:
        os.close(handle)


def _leave_to_parent() -> None:
    """Close the ledgers in a forked process, so that its parent's lock ends with the parent."""
    for each in _ledgers:
        each.close()
    _ledgers.clear()


_ledgers: list[Ledger] = []
os.register_at_fork(after_in_child=_leave_to_parent)
