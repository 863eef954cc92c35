"""Logging, counting and timing jobs, under the id of the HTTP request that they follow from."""

import time
from collections.abc import Callable
from typing import Any

import structlog

from paraph.metrics.metrics import count_job
from paraph.queue.reschedule import Reschedule

TRACE = "trace"  # the argument of a job that carries the id

_log = structlog.get_logger("paraph.job")


def trace_argument() -> dict[str, str]:
    """Return the argument of a new job that carries the id of the current HTTP request; empty outside of requests."""
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    return {TRACE: request_id} if request_id else {}


def logged(name: str, verb: Callable[..., None]) -> Callable[..., None]:
    """Wrap a verb into the function of a job, which counts and times the verb and writes one line to the log."""

    def run(*, trace: str = "", **arguments: Any) -> None:
        with structlog.contextvars.bound_contextvars(**({"request_id": trace} if trace else {})):
            _run(name, verb, arguments)

    run.__name__ = run.__qualname__ = name
    return run


def _run(name: str, verb: Callable[..., None], arguments: dict[str, Any]) -> None:
    # In the log, request_id is the id of the HTTP request. Arguments that are no numbers hold what others wrote.
    fields = {key.replace("request_id", "signature_request"): n for key, n in arguments.items() if type(n) is int}
    began = time.perf_counter()
    try:
        verb(**arguments)
    except Reschedule as error:
        seconds = time.perf_counter() - began
        count_job(name, "put off", seconds)
        _log.info("job put off", task=name, **fields, reason=error.reason, seconds=error.retry_after)
        raise
    except Exception as error:
        seconds = time.perf_counter() - began
        count_job(name, "failed", seconds)
        _log.warning("job failed", task=name, **fields, seconds=round(seconds, 3), error=type(error).__name__)
        raise
    seconds = time.perf_counter() - began
    count_job(name, "succeeded", seconds)
    _log.info("job", task=name, **fields, seconds=round(seconds, 3))
