"""The metrics of the service, summed over all its processes. Labels are routes, states and stages, never an id, an
address or a token. Counting never makes the counted work fail: a full disk loses metrics, not requests."""

import json
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from http import HTTPMethod
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from paraph.kernel.errors import RecipientRefusedError
from paraph.metrics import ledger

_Sums = Sequence[tuple[list[str], list[float]]]  # labels and numbers
_instruments: list["Counter | Histogram"] = []


class Counter:
    """A number that only grows, for each combination of labels. Each name is used once."""

    def __init__(self, name: str, text: str, labels: Sequence[str] = ()) -> None:
        self.name, self.width = name, 1
        self._text, self._labels = text, labels
        _instruments.append(self)

    def inc(self, *labels: str, by: float = 1) -> None:
        ledger.ledger().add(_key(self.name, labels), {0: by}, self.width)

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
        ledger.ledger().add(_key(self.name, labels), {bucket: 1, total: value}, self.width)

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
    sums: dict[tuple[str, int], list[tuple[list[str], list[float]]]] = defaultdict(list)
    for (key, width), numbers in ledger.sums().items():
        name, _, labels = key.partition(" ")
        sums[name, width].append((json.loads(labels), numbers))
    for instrument in _instruments:
        yield instrument.family(sums[instrument.name, instrument.width])


@cache
def _key(name: str, labels: tuple[str, ...]) -> str:
    return f"{name} {json.dumps(labels)}"
