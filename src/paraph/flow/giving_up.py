"""Telling operators of jobs that are not tried again: one line at the level of errors for each."""

from collections.abc import Callable, Mapping
from typing import Any

import structlog
from django.db import Error as DatabaseError
from procrastinate.job_context import JobContext
from procrastinate.worker import Worker

from paraph.evidence.failures import cause_of
from paraph.flow.trace import TRACE
from paraph.signature_requests.models import RequestDocument, Signer

_log = structlog.get_logger("paraph.job")


def tell_when_given_up(work: Callable[[], Any], context: JobContext, _worker: Worker) -> Any:
    """A middleware around each attempt. The strategy that is asked here is asked again by the worker, which then
    writes down the answer."""
    try:
        return work()
    except Exception as error:
        if context.task and context.task.get_retry_exception(exception=error, job=context.job) is None:
            _tell(context, error)
        raise


def _tell(context: JobContext, error: Exception) -> None:
    job = context.job
    task = job.task_name.rpartition(".")[2]
    facts = {"task": task, "signature_request": _request_of(job.task_kwargs), "attempts": job.attempts + 1}
    # Only files, keys and storage stand in the causes of this task; mail servers quote addresses.
    facts["cause"] = cause_of(error) if task == "finalize" else type(error).__name__
    trace = job.task_kwargs.get(TRACE)
    with structlog.contextvars.bound_contextvars(**({"request_id": trace} if trace else {})):
        _log.error("job gave up", **facts)


def _request_of(arguments: Mapping[str, Any]) -> int | None:
    """The signature request that the job is for, as far as the database says so."""
    if "request_id" in arguments:
        return int(arguments["request_id"])
    try:
        if "signer_id" in arguments:
            return Signer.objects.values_list("request_id", flat=True).get(pk=arguments["signer_id"])
        return RequestDocument.objects.values_list("request_id", flat=True).get(pk=arguments["request_document_id"])
    except (DatabaseError, RequestDocument.DoesNotExist, Signer.DoesNotExist):
        return None
