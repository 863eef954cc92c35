"""Reporting jobs that are not tried again: one line of the log at level ``error`` for each."""

from collections.abc import Callable, Mapping
from typing import Any

import structlog
from django.db import Error as DatabaseError
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.job_context import JobContext
from procrastinate.worker import Worker

from paraph.evidence.failures import cause_of, note
from paraph.queue.jobs import TRACE
from paraph.signature_requests.models import RequestDocument, Signer

_log = structlog.get_logger("paraph.job")


def report_last_attempt(run: Callable[[], Any], context: JobContext, _worker: Worker) -> Any:
    """Run an attempt, as task middleware of procrastinate, and report the job if this was its last.

    The retry strategy is asked here and again by the worker, which then records its decision.
    """
    try:
        return run()
    except Exception as error:
        if context.task and context.task.get_retry_exception(exception=error, job=context.job) is None:
            job = context.job
            _report(job.task_name, job.task_kwargs, job.attempts + 1, error)
        raise


def give_up(job: ProcrastinateJob, error: Exception) -> None:
    """Report a job that is given up for what happened to its workers, and note the cause with the signature request
    that waits for it."""
    request_id = _request_id(job.args)
    if request_id is not None and _short_name(job.task_name) == "finalize":
        note(request_id, "seal", error)
    _report(job.task_name, job.args, job.attempts + 1, error)


def _report(task_name: str, arguments: Mapping[str, Any], attempts: int, error: Exception) -> None:
    task = _short_name(task_name)
    fields = {"task": task, "signature_request": _request_id(arguments), "attempts": attempts}
    # Errors of this task name files, keys and storage only; those of mail servers quote addresses.
    fields["cause"] = cause_of(error) if task == "finalize" else type(error).__name__
    trace = arguments.get(TRACE)
    with structlog.contextvars.bound_contextvars(**({"request_id": trace} if trace else {})):
        _log.error("job gave up", **fields)


def _short_name(task_name: str) -> str:
    return task_name.rpartition(".")[2]


def _request_id(arguments: Mapping[str, Any]) -> int | None:
    """Return the id of the signature request that the job is for; None where the database does not know it or is
    away."""
    if "request_id" in arguments:
        return int(arguments["request_id"])
    try:
        if "signer_id" in arguments:
            return Signer.objects.values_list("request_id", flat=True).get(pk=arguments["signer_id"])
        if "request_document_id" not in arguments:
            return None
        return RequestDocument.objects.values_list("request_id", flat=True).get(pk=arguments["request_document_id"])
    except (DatabaseError, RequestDocument.DoesNotExist, Signer.DoesNotExist):
        return None
