"""The metrics of the service, summed over all its processes. Labels are routes, states and stages, never an id, an
address or a token. Counting never makes the counted work fail: a full disk loses metrics, not requests.

Each process keeps its numbers in a ledger, a file that others read, so that nothing is lost when it ends. The file is a
sequence of records: the length of the key, the count of numbers, the key (UTF-8, padded with spaces to a multiple of
8), the numbers (float64). It is written by plain calls and never mapped: on a full disk a write fails, whereas touching
a page of a mapped file would end the process (SIGBUS). The process holds a lock on its file until it ends. The next
process that begins takes the file over and continues its numbers: there are never more files than there were processes
at the same time.
"""

import fcntl
import json
import os
import struct
import threading
import time
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from http import HTTPMethod
from itertools import accumulate
from pathlib import Path
from shutil import rmtree

from django.conf import settings
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from paraph.kernel import tokens
from paraph.kernel.errors import RecipientRefusedError

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


_Sums = Sequence[tuple[list[str], list[float]]]  # labels and numbers
_instruments: list["Counter | Histogram"] = []


class Counter:
    """A number that only grows, for each combination of labels. Each name is used once."""

    def __init__(self, name: str, text: str, labels: Sequence[str] = ()) -> None:
        self.name, self.width = name, 1
        self._text, self._labels = text, labels
        _instruments.append(self)

    def inc(self, *labels: str, by: float = 1) -> None:
        ledger().add(_key(self.name, labels), {0: by}, self.width)

    def family(self, sums: _Sums) -> Metric:
        family = CounterMetricFamily(self.name, self._text, labels=self._labels)
        for labels, [value] in sums or ([] if self._labels else [([], [0.0])]):
            family.add_metric(labels, value)
        return family


class Histogram:
    """Counts of values by bucket, and their sum. ``buckets``: upper bounds in ascending order."""

    def __init__(self, name: str, text: str, labels: Sequence[str], buckets: Sequence[float]) -> None:
        self.name, self.width = name, len(buckets) + 2  # a bucket above all bounds, and the sum
        self._text, self._labels, self._buckets = text, labels, buckets
        _instruments.append(self)

    def observe(self, value: float, *labels: str) -> None:
        bucket, total = bisect_left(self._buckets, value), self.width - 1
        ledger().add(_key(self.name, labels), {bucket: 1, total: value}, self.width)

    def family(self, sums: _Sums) -> Metric:
        family = HistogramMetricFamily(self.name, self._text, labels=self._labels)
        bounds = [*map(str, map(float, self._buckets)), "+Inf"]
        for labels, [*counts, total] in sums:
            family.add_metric(labels, list(zip(bounds, accumulate(counts), strict=True)), total)
        return family


_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

_requests = Counter("paraph_requests", "Requests answered.", ["method", "route", "status"])
_request_seconds = Histogram("paraph_request_seconds", "Seconds per request.", ["method", "route"], _SECONDS)
_stage_seconds = Histogram("paraph_stage_seconds", "Seconds per stage of sealing.", ["stage"], _SECONDS)
_seals = Counter("paraph_seals", "Files sealed.", ["file", "method", "level", "timestamped"])
_timestamp_failures = Counter("paraph_timestamp_failures", "Times that a timestamp authority failed during a seal.")
_jobs = Counter("paraph_jobs_run", "Jobs run.", ["task", "result"])
_job_seconds = Histogram("paraph_job_seconds", "Seconds per job.", ["task"], _SECONDS)
_messages = Counter("paraph_messages", "Messages handed to a gateway.", ["channel", "kind", "result"])
_wait_seconds = Histogram("paraph_wait_seconds", "Seconds of waiting for a free place.", ["place", "result"], _SECONDS)

starts = Counter("paraph_process_starts", "Processes begun.", ["role"])
"""``role``: ``web`` or ``worker``."""
guesses = Counter("paraph_guesses", "Guesses at one-time codes.", ["result"])
"""``result``: ``right``, ``wrong`` or ``refused`` (no attempt left, or no code sent)."""
locks = Counter("paraph_signers_locked", "Times that a signer was locked for wrong codes.")
webhooks = Counter("paraph_webhook_attempts", "Webhooks sent.", ["event", "result"])
"""``result``: ``delivered``, ``retried`` (failed, tried again later) or ``failed`` (for good)."""


def count_request(method: str | None, route: str, status: int, seconds: float) -> None:
    """Count a request. ``route``: its template in the URL map, "" where there is none."""
    known = method if method and method in HTTPMethod.__members__ else "other"  # a client may send any method name
    _requests.inc(known, route or "unknown", str(status))
    _request_seconds.observe(seconds, known, route or "unknown")


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Measure a stage of sealing, even one that fails: ``typeset``, ``seal``, ``store`` or ``reread``."""
    began = time.perf_counter()
    try:
        yield
    finally:
        _stage_seconds.observe(time.perf_counter() - began, name)


def count_seal(file: str, method: str, *, level: str, timestamped: bool, timestamp_failures: int) -> None:
    """Count a seal. ``file``: ``document`` or ``proof``; ``method`` and ``level``: those of
    :class:`paraph.pdf.sealing.seal.SealedPdf`."""
    _seals.inc(file, method, level, str(timestamped).lower())
    _timestamp_failures.inc(by=timestamp_failures)


def count_job(task: str, result: str, seconds: float) -> None:
    """Count a run of a job. ``result``: ``succeeded``, ``failed`` or ``put off``."""
    _jobs.inc(task, result)
    _job_seconds.observe(seconds, task)


@contextmanager
def message(channel: str, kind: str) -> Iterator[None]:
    """Count the message that the block hands to a gateway: as ``sent``, as ``refused`` where the gateway refuses its
    recipient, which is no fault of the gateway, or as ``failed`` if the block raises anything else.
    ``channel``: ``email`` or ``sms``; ``kind``: ``code``, or ``message`` for any other message."""
    try:
        yield
    except RecipientRefusedError:
        _messages.inc(channel, kind, "refused")
        raise
    except Exception:
        _messages.inc(channel, kind, "failed")
        raise
    _messages.inc(channel, kind, "sent")


def count_wait(place: str, seconds: float, served: bool) -> None:
    """Count a wait for a place. ``place``: ``work`` (a thread that does expensive work), ``machine`` (one that
    waits for a machine of others) or ``reader`` (a process that reads PDFs)."""
    _wait_seconds.observe(seconds, place, "served" if served else "busy")


def summed() -> Iterator[Metric]:
    """Yield the metrics of all processes, including those that have ended."""
    found: dict[tuple[str, int], list[tuple[list[str], list[float]]]] = defaultdict(list)
    for (key, width), numbers in sums().items():
        name, _, labels = key.partition(" ")
        found[name, width].append((json.loads(labels), numbers))
    for instrument in _instruments:
        yield instrument.family(found[instrument.name, instrument.width])


@cache
def _key(name: str, labels: tuple[str, ...]) -> str:
    return f"{name} {json.dumps(labels)}"
