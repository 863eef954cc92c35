"""The figures that processes count. Labels are routes, states and stages: never an id, an address or a token.

Counting never breaks what is counted: a full disk costs figures, not requests.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram

from paraph.measures import processes

processes.keep()

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

_registry = CollectorRegistry()  # what is read are the files, of all processes
_requests = Counter("paraph_requests", "Requests answered.", ["method", "route", "status"], registry=_registry)
_request_seconds = Histogram(
    "paraph_request_seconds", "Seconds per request.", ["method", "route"], buckets=_SECONDS, registry=_registry
)
_stage_seconds = Histogram(
    "paraph_stage_seconds", "Seconds per stage of sealing.", ["stage"], buckets=_SECONDS, registry=_registry
)
_seals = Counter("paraph_seals", "Files sealed.", ["file", "method", "level", "timestamped"], registry=_registry)
_timestamp_failures = Counter(
    "paraph_timestamp_failures", "Times that a timestamp authority failed during a seal.", registry=_registry
)
_jobs = Counter("paraph_jobs_run", "Jobs run.", ["task", "result"], registry=_registry)
_job_seconds = Histogram("paraph_job_seconds", "Seconds per job.", ["task"], buckets=_SECONDS, registry=_registry)
_wait_seconds = Histogram(
    "paraph_wait_seconds",
    "Seconds that requests waited for a place where none was free.",
    ["place", "result"],
    buckets=_SECONDS,
    registry=_registry,
)
_deliveries = Counter("paraph_webhook_attempts", "Webhooks sent.", ["event", "result"], registry=_registry)


def count_request(method: str | None, route: str, status: int, seconds: float) -> None:
    """``route``: the template of the URL map, "" for an unknown one."""
    known = method if method in _METHODS else "other"  # a client may send any word
    with suppress(OSError, ValueError):
        requests, request_seconds = _of_requests(known, route or "unknown", status)
        requests.inc()
        request_seconds.observe(seconds)


@cache
def _of_requests(method: str, route: str, status: int) -> tuple[Counter, Histogram]:
    """Looking them up by their labels takes longer than counting."""
    return _requests.labels(method, route, status), _request_seconds.labels(method, route)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Measures ``typeset``, ``seal``, ``store`` or ``reread``; what fails is measured too."""
    began = time.perf_counter()
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            _stage_seconds.labels(name).observe(time.perf_counter() - began)


def count_seal(file: str, method: str, *, level: str, timestamped: bool, timestamp_failures: int) -> None:
    """``file``: ``document`` or ``proof``; ``method`` and ``level``: as in :class:`paraph.pdf.seal.SealedPdf`."""
    with suppress(OSError, ValueError):
        _seals.labels(file, method, level, str(timestamped).lower()).inc()
        _timestamp_failures.inc(timestamp_failures)


def count_job(task: str, result: str, seconds: float) -> None:
    """``result``: ``succeeded`` or ``failed``."""
    with suppress(OSError, ValueError):
        _jobs.labels(task, result).inc()
        _job_seconds.labels(task).observe(seconds)


def count_webhook(event: str, result: str) -> None:
    """``result``: ``delivered``, ``retried`` (it failed and is tried again) or ``failed`` (for good)."""
    with suppress(OSError, ValueError):
        _deliveries.labels(event, result).inc()


def count_wait(place: str, seconds: float, served: bool) -> None:
    """``place``: ``thread`` (one that may wait) or ``reader`` (a process that reads PDFs). Who got none is ``busy``."""
    with suppress(OSError, ValueError):
        _wait_seconds.labels(place, "served" if served else "busy").observe(seconds)
