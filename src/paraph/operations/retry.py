"""Asking again for what a request still needs."""

from dataclasses import dataclass

from django.db import connection, transaction

import paraph.flow.jobs  # noqa: F401  makes known the tasks that defer() names
from paraph.flow.lock import lock_request
from paraph.kernel.errors import DomainError
from paraph.operations.pending_work import Job, PendingStep, job_for, jobs_of, pending_steps
from paraph.queue.defer import defer
from paraph.signature_requests.models import SignatureRequest


@dataclass(frozen=True)
class Retried:
    """``outcome``: ``deferred`` (there was no job), ``brought forward`` (it waited for its next try), ``waiting``
    (due already) or ``running``."""

    task: str
    words: str
    outcome: str


def retry(request_id: int) -> list[Retried]:
    """Sees to it that every missing step has a job that is due now; nothing is missing: an empty list.

    Safe while the service runs and when called twice: under the request's row lock, which every step holds when it
    asks for the next, no step gets a second job. Raises ``DomainError("not_found", …)``.
    """
    with transaction.atomic():
        try:
            request = lock_request(request_id)
        except SignatureRequest.DoesNotExist:
            raise DomainError("not_found", f"There is no signature request {request_id}.") from None
        jobs = jobs_of(request)
        return [Retried(step.task, step.words, _see_to(step, jobs)) for step in pending_steps(request)]


def _see_to(step: PendingStep, jobs: list[Job]) -> str:
    job = job_for(step, jobs)
    if job is None or not job.is_live:
        if job is not None:
            _forget(job)
        defer(step.task, **step.arguments)
        return "deferred"
    if job.waits_for_its_retry:
        return "brought forward" if _bring_forward(job) else "running"
    return "waiting" if job.status == "todo" else "running"


def _forget(job: Job) -> None:
    """The new job takes the place of the one that gave up."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_jobs WHERE id = %s AND status = 'failed'", [job.id])


def _bring_forward(job: Job) -> bool:
    """False when a worker has taken it in this moment."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET scheduled_at = now() WHERE id = %s AND status = 'todo'", [job.id])
        return bool(cursor.rowcount)
