"""A file of numbers that one process writes and others read, so that nothing is lost when the process ends.

The file is a sequence of records: the length of the key, the count of numbers, the key (UTF-8, padded with spaces to a
multiple of 8), the numbers (float64). It is written by plain calls and never mapped: on a full disk a write fails,
whereas touching a page of a mapped file would end the process (SIGBUS).

The process holds a lock on its file until it ends. What is left of those that have ended, the next one that begins sums
up in one file. A key without numbers there is the name of a file whose numbers it holds.
"""

import fcntl
import os
import struct
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from paraph.kernel import tokens

_HEAD = struct.Struct("=II")
_FILE_MODE = 0o600
_NEW = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
_ENDED = "ended.metrics"

Sums = dict[tuple[str, int], list[float]]
"""Numbers by their key and their count, which another version of the service may have changed."""


class Ledger:
    """A thread-safe writer. ``path``: a file that does not exist yet; the first addition makes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._adding, self._writing = threading.Lock(), threading.Lock()
        self._file: int | None = None
        self._end = 0
        self._records: dict[str, _Record] = {}
        self._unwritten: dict[str, _Record] = {}

    def add(self, key: str, amounts: Mapping[int, float], width: int) -> None:
        """Add ``amounts``, by position, to the ``width`` numbers of the key. If the disk refuses the write, the next
        addition to the key writes them.

        One thread writes at a time, also what others add meanwhile, so that nobody waits for a write: the thread that
        writes lets go of the interpreter, and may get it back late."""
        with self._adding:
            record = self._records.get(key)
            if record is None:
                record = self._records[key] = _Record(width)
            for position, amount in amounts.items():
                record.numbers[position] += amount
            self._unwritten[key] = record
        while self._unwritten and self._writing.acquire(blocking=False):
            try:
                self._write_all()
            finally:
                self._writing.release()

    def _write_all(self) -> None:
        while self._unwritten:
            with self._adding:
                key, record = self._unwritten.popitem()
                numbers = _numbers(record.numbers)
            with suppress(OSError):
                self._write(key, record, numbers)

    def _write(self, key: str, record: "_Record", numbers: bytes) -> None:
        if record.offset is not None:
            os.pwrite(self._opened(), numbers, record.offset)
            return
        whole = _packed(key, numbers)
        if os.pwrite(self._opened(), whole, self._end) == len(whole):  # else the next record is written over it
            self._end += len(whole)
            record.offset = self._end - len(numbers)

    def _opened(self) -> int:
        if self._file is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(self._path.parent, fcntl.LOCK_SH):  # nobody may find the file before it is locked
                self._file = os.open(self._path, _NEW | os.O_EXCL, _FILE_MODE)
                fcntl.flock(self._file, fcntl.LOCK_EX)
        return self._file

    def close(self) -> None:
        """Leave the file to others."""
        if self._file is not None:
            os.close(self._file)


class _Record:
    def __init__(self, width: int) -> None:
        self.numbers = [0.0] * width
        self.offset: int | None = None
        """Position of the numbers in the file; None before they are written."""


def _numbers(numbers: Sequence[float]) -> bytes:
    return struct.pack(f"={len(numbers)}d", *numbers)


def _packed(key: str, numbers: bytes) -> bytes:
    name = key.encode()
    name += b" " * (-len(name) % 8)
    return _HEAD.pack(len(name), len(numbers) // 8) + name + numbers


def read(path: Path) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield each key with its numbers, up to a record that was not written whole. Raise ``OSError``."""
    data, position = path.read_bytes(), 0
    while position + _HEAD.size <= len(data):
        length, width = _HEAD.unpack_from(data, position)
        numbers = position + _HEAD.size + length
        if numbers + 8 * width > len(data) or not length:
            return
        yield (
            data[numbers - length : numbers].decode(errors="replace").rstrip(),
            struct.unpack_from(f"={width}d", data, numbers),
        )
        position = numbers + 8 * width


def folder() -> Path:
    path: Path = settings.DATA_DIR / "metrics"
    return path


def ledger() -> Ledger:
    """Return the ledger of this process, made at the first call."""
    if not _ledgers:
        with suppress(OSError):
            sum_up_ended()
        _ledgers.append(Ledger(folder() / f"{os.getpid()}-{tokens.random_hex(8)}.metrics"))
    return _ledgers[0]


def sums() -> Sums:
    """Return the numbers of all processes that count in this data folder, or did until they ended."""
    try:
        with _locked(folder(), fcntl.LOCK_SH):
            found = _summed([folder() / _ENDED, *_of_processes()])
    except FileNotFoundError:  # nobody has counted
        return {}
    return {key: numbers for key, numbers in found.items() if numbers}


def process_ids() -> list[int]:
    """Return the ids of the processes that have a ledger here, each on its machine; some may have ended."""
    return sorted({int(file.name.partition("-")[0]) for file in _of_processes()})


def sum_up_ended() -> None:
    """Sum up the ledgers of processes that have ended, and remove them. Killed at any moment, it has neither lost a
    number nor doubled one. Raise ``OSError``."""
    with _locked(folder(), fcntl.LOCK_EX):
        before = _summed([folder() / _ENDED])
        ended = [file for file in _of_processes() if (file.name, 0) in before or _has_ended(file)]
        if not ended:
            return
        found = _summed([folder() / _ENDED, *ended])
        sums = {key: numbers for key, numbers in found.items() if numbers} | {(file.name, 0): [] for file in ended}
        draft = folder() / "draft"
        draft.write_bytes(b"".join(_packed(key, _numbers(numbers)) for (key, _), numbers in sums.items()))
        draft.replace(folder() / _ENDED)
        for file in ended:
            file.unlink()


def forget() -> None:
    """Remove all ledgers. To be called only while no other process of the service runs."""
    for file in folder().glob("*.metrics"):
        file.unlink(missing_ok=True)


def _summed(files: Iterable[Path]) -> Sums:
    """Sum up the files, without those whose numbers one before has."""
    found: Sums = {}
    for file in files:
        with suppress(OSError):
            for key, numbers in read(file) if (file.name, 0) not in found else ():
                before = found.get((key, len(numbers)), [0.0] * len(numbers))
                found[key, len(numbers)] = [a + b for a, b in zip(before, numbers, strict=True)]
    return found


def _of_processes() -> list[Path]:
    return sorted(folder().glob("*-*.metrics"))


def _has_ended(file: Path) -> bool:
    """Return whether the process that wrote the file has let go of its lock."""
    with suppress(OSError), file.open("rb") as opened:
        fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return True
    return False


@contextmanager
def _locked(here: Path, how: int) -> Iterator[None]:
    handle = os.open(here / "lock", _NEW, _FILE_MODE)
    try:
        fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)


def _leave_to_parent() -> None:
    """In a process that was forked: its parent's lock shall end with the parent."""
    for each in _ledgers:
        each.close()
    _ledgers.clear()


_ledgers: list[Ledger] = []
os.register_at_fork(after_in_child=_leave_to_parent)
