"""The id of the HTTP request that set something off, carried along with the jobs and webhooks that follow from it."""

import time
from collections.abc import Callable

import structlog

from paraph.flow.messages.limits import TooManyMessagesError
from paraph.measures.figures import count_job

TRACE = "trace"  # the job argument

_log = structlog.get_logger("paraph.job")


def carried() -> dict[str, str]:
    """What to add to a job's arguments; nothing where no request began it."""
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    return {TRACE: request_id} if request_id else {}


def traced(name: str, verb: Callable[..., None]) -> Callable[..., None]:
    """The verb as a job: logged in one line under the id that came with its arguments, counted and timed."""

    def run(*, trace: str = "", **arguments: int) -> None:
        with structlog.contextvars.bound_contextvars(**({"request_id": trace} if trace else {})):
            _run(name, verb, arguments)

    run.__name__ = run.__qualname__ = name
    return run


def _run(name: str, verb: Callable[..., None], arguments: dict[str, int]) -> None:
    # In the log the name request_id belongs to the HTTP request.
    facts = {key.replace("request_id", "signature_request"): value for key, value in arguments.items()}
    began = time.perf_counter()
    try:
        verb(**arguments)
    except TooManyMessagesError as error:
        seconds = time.perf_counter() - began
        count_job(name, "put off", seconds)
        _log.info("job put off", task=name, **facts, reason=error.reason, seconds=error.retry_after)
        raise
    except Exception as error:
        seconds = time.perf_counter() - began
        count_job(name, "failed", seconds)
        _log.warning("job failed", task=name, **facts, seconds=round(seconds, 3), error=type(error).__name__)
        raise
    seconds = time.perf_counter() - began
    count_job(name, "succeeded", seconds)
    _log.info("job", task=name, **facts, seconds=round(seconds, 3))
