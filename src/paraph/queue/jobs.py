"""Jobs: the queues, adding a job in the transaction of the work that it follows, putting it off; and logging, counting
and timing jobs under the id of the HTTP request that caused them. Every worker serves each queue with separate threads,
so that a mail server that hangs delays mails, but no seals (docs/decisions/queues.md)."""

import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime
from typing import Any

import structlog
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.database.rows import insert
from paraph.metrics.metrics import count_job

DEFAULT = "default"
MAIL = "mail"
QUEUES = (DEFAULT, MAIL)
RANKS = 1_000
LAST = RANKS - 1
"""The highest rank. A job's priority is ``-(deaths * RANKS + rank)``: of jobs that wait, those of the lowest rank are
begun first; jobs during which workers died are begun after all others."""
RUN_SECONDS = 5.0  # for a job that does what is due, since seals may wait for the job's thread
_TASKS = "paraph.flow.jobs."
TRACE = "trace"  # the argument of a job that carries the id of the HTTP request
ATTEMPT = ContextVar("attempt", default=1)  # the number of the current attempt at the running job

_log = structlog.get_logger("paraph.job")


def defer(task: str, **arguments: int | str) -> None:
    """Add a job for the task of :mod:`paraph.flow.jobs` with this name. The task is named, not imported, because its
    verb defers further jobs, and the imports would be circular. Inside a transaction, the job exists only if the
    transaction commits. The job carries the id of the current HTTP request. Raise
    ``procrastinate.exceptions.TaskNotFound`` for an unknown name."""
    insert([job(task, rank=0, **arguments)])


def defer_last(task: str, **arguments: int | str) -> None:
    """Add a job as :func:`defer` does, to be begun after all others that wait."""
    insert([job(task, rank=LAST, **arguments)])


def is_live(task: str, **arguments: int | str) -> bool:
    """Return whether a job of the task, whose arguments include these, waits or is being done."""
    live = ProcrastinateJob.objects.filter(task_name=f"{_TASKS}{task}", status__in=("todo", "doing"))
    return live.filter(args__contains=arguments).exists()


def job(task: str, *, rank: int = 0, **arguments: int | str) -> ProcrastinateJob:
    """Return the row of a job, to be inserted in one statement with the work that it follows; otherwise as
    :func:`defer`. ``rank``: waiting jobs of a lower rank are begun first. Not for tasks with a queueing lock: for a
    second such job, the database would refuse the whole statement."""
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    trace = {TRACE: request_id} if request_id else {}
    named = app.configure_task(f"{_TASKS}{task}", allow_unknown=False)
    made = named.make_new_job(**arguments, **trace)
    return ProcrastinateJob(
        queue_name=made.queue,
        task_name=made.task_name,
        priority=-min(rank, LAST),
        lock=made.lock,
        queueing_lock=made.queueing_lock,
        args=made.task_kwargs,
        status="todo",
        attempts=0,
        abort_requested=False,
    )


class Reschedule(Exception):
    """Raised to put a job off, which is no failure: the job waits for something, such as room below a ceiling of
    messages. It runs again at ``next_at`` (aware), in ``retry_after`` seconds. ``reason``: a phrase for the log,
    without personal data."""

    reason: str
    next_at: datetime
    retry_after: int


def logged(name: str, verb: Callable[..., None]) -> Callable[..., None]:
    """Wrap a verb into the function of a job, which counts and times the verb and writes one line to the log."""

    def run(*, trace: str = "", **arguments: Any) -> None:
        with structlog.contextvars.bound_contextvars(**({"request_id": trace} if trace else {})):
            _run(name, verb, arguments)

    run.__name__ = run.__qualname__ = name
    return run


def _run(name: str, verb: Callable[..., None], arguments: dict[str, Any]) -> None:
    # In the log, request_id is the id of the HTTP request. Arguments that are no numbers may contain personal data.
    fields = {key.replace("request_id", "signature_request"): n for key, n in arguments.items() if type(n) is int}
    log = _log.bind(task=name, **fields)
    began, result = time.perf_counter(), "failed"
    try:
        verb(**arguments)
        result = "succeeded"
        log.info("job", seconds=round(time.perf_counter() - began, 3))
    except Reschedule as error:
        result = "put off"
        log.info("job put off", reason=error.reason, seconds=error.retry_after)
        raise
    except Exception as error:
        log.warning("job failed", seconds=round(time.perf_counter() - began, 3), error=type(error).__name__)
        raise
    finally:
        count_job(name, result, time.perf_counter() - began)
