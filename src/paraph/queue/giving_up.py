"""Telling operators of jobs that are not tried again: one line at the level of errors for each."""

from collections.abc import Callable, Mapping
from typing import Any

import structlog
from django.db import Error as DatabaseError
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.job_context import JobContext
from procrastinate.worker import Worker

from paraph.evidence.failures import cause_of, note
from paraph.queue.job_logging import TRACE
from paraph.signature_requests.models import RequestDocument, Signer

_log = structlog.get_logger("paraph.job")


def tell_when_given_up(work: Callable[[], Any], context: JobContext, _worker: Worker) -> Any:
    """A middleware around each attempt. The strategy that is asked here is asked again by the worker, which then
    writes down the answer."""
    try:
        return work()
    except Exception as error:
        if context.task and context.task.get_retry_exception(exception=error, job=context.job) is None:
            job = context.job
            _tell(job.task_name, job.task_kwargs, job.attempts + 1, error)
        raise


def give_up(job: ProcrastinateJob, error: Exception) -> None:
    """Tells the same of a job that nobody tries again because of what happened to its workers, and notes it where its
    request waits for it."""
    request_id = _request_of(job.args)
    if request_id is not None and _name(job.task_name) == "finalize":
        note(request_id, "seal", error)
    _tell(job.task_name, job.args, job.attempts + 1, error)


def _tell(task_name: str, arguments: Mapping[str, Any], attempts: int, error: Exception) -> None:
    task = _name(task_name)
    facts = {"task": task, "signature_request": _request_of(arguments), "attempts": attempts}
    # Only files, keys and storage stand in the causes of this task; mail servers quote addresses.
    facts["cause"] = cause_of(error) if task == "finalize" else type(error).__name__
    trace = arguments.get(TRACE)
    with structlog.contextvars.bound_contextvars(**({"request_id": trace} if trace else {})):
        _log.error("job gave up", **facts)


def _name(task_name: str) -> str:
    return task_name.rpartition(".")[2]


def _request_of(arguments: Mapping[str, Any]) -> int | None:
    """The signature request that the job is for, as far as the database says so."""
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
