"""A file of numbers that one process writes and others read, so that nothing is lost when the process ends.

The file is a sequence of records: the length of the key, the count of numbers, the key (UTF-8, padded with spaces to a
multiple of 8), the numbers (float64). It is written by plain calls and never mapped: on a full disk a write fails,
whereas touching a page of a mapped file would end the process (SIGBUS).
"""

import os
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from paraph.kernel import tokens

_HEAD = struct.Struct("=II")
_FILE_MODE = 0o600


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
                numbers = struct.pack(f"={len(record.numbers)}d", *record.numbers)
            with suppress(OSError):
                self._write(key, record, numbers)

    def _write(self, key: str, record: "_Record", numbers: bytes) -> None:
        if record.offset is not None:
            os.pwrite(self._opened(), numbers, record.offset)
            return
        name = key.encode()
        name += b" " * (-len(name) % 8)
        whole = _HEAD.pack(len(name), len(numbers) // 8) + name + numbers
        if os.pwrite(self._opened(), whole, self._end) == len(whole):  # else the next record is written over it
            record.offset = self._end + _HEAD.size + len(name)
            self._end += len(whole)

    def _opened(self) -> int:
        if self._file is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _FILE_MODE)
        return self._file


class _Record:
    def __init__(self, width: int) -> None:
        self.numbers = [0.0] * width
        self.offset: int | None = None
        """Position of the numbers in the file; None before they are written."""


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
        _ledgers.append(Ledger(folder() / f"{os.getpid()}-{tokens.random_hex(8)}.metrics"))
    return _ledgers[0]


def records() -> Iterator[tuple[str, tuple[float, ...]]]:
    """Yield each key with its numbers, once for each process that counted it."""
    for file in sorted(folder().glob("*.metrics")):
        try:
            yield from read(file)
        except FileNotFoundError:
            continue  # a start of the service has just removed it


def forget() -> None:
    """Remove all ledgers. To be called only while no other process of the service runs."""
    for file in folder().glob("*.metrics"):
        file.unlink(missing_ok=True)


_ledgers: list[Ledger] = []
os.register_at_fork(after_in_child=_ledgers.clear)
