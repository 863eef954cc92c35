"""The metrics of the service. Labels are routes, states and stages, never an id, an address or a token.

Counting never makes the counted work fail: a full disk loses metrics, not requests.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPMethod

from paraph.kernel.errors import RecipientRefusedError
from paraph.metrics.instruments import Counter, Histogram

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
    """Count a run of a job. ``result``: ``succeeded`` or ``failed``."""
    _jobs.inc(task, result)
    _job_seconds.observe(seconds, task)


@contextmanager
def message(channel: str, kind: str) -> Iterator[None]:
    """Count the message that the block hands to a gateway: as ``sent``, as ``refused`` where the gateway refuses its
    recipient, which is no fault of the gateway, or as ``failed`` where the block raises anything else.
    ``channel``: ``email`` or ``sms``; ``kind``: ``code`` or ``message``, which is any other."""
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
