"""Trying the pending steps of a request again."""

from dataclasses import dataclass

from django.db import connection, transaction
from procrastinate.contrib.django.models import ProcrastinateJob

import paraph.flow.jobs  # noqa: F401  registers the tasks that defer() names
from paraph.flow.lock import lock_request
from paraph.kernel.errors import DomainError
from paraph.operations.pending_work import Job, PendingStep, job_for, jobs_of, pending_steps
from paraph.queue.jobs import defer
from paraph.signature_requests.models import RequestStatus, SenderMail, SignatureRequest, Signer

_MAILS = {
    "signer_id": ["paraph.flow.jobs.invite", "paraph.flow.jobs.tell_signer_of_decline"],
    "name": ["paraph.flow.jobs.tell_sender", "paraph.flow.jobs.tell_contact_of_decline"],
}


@dataclass(frozen=True)
class Retried:
    """A step and what was done for it. ``outcome``: ``deferred`` (a new job), ``brought forward`` (its job waited for
    its next attempt), ``waiting`` (its job is due already) or ``running``."""

    task: str
    words: str
    outcome: str


def retry(request_id: int) -> list[Retried]:
    """Give every pending step a job that is due now. Return an empty list when no step is pending.

    It is safe while the service runs and when called twice: it holds the request's row lock, as every step does when it
    defers the next one, so no step gets a second job. Raise ``DomainError("not_found", …)``.
    """
    with transaction.atomic():
        try:
            request = lock_request(request_id)
        except SignatureRequest.DoesNotExist:
            raise DomainError("not_found", f"There is no signature request {request_id}.") from None
        jobs = jobs_of(request)
        return [Retried(step.task, step.words, _require_job(step, jobs)) for step in pending_steps(request)]


def retry_all() -> int:
    """Retry every completed request that is not finalized, and every other one with a mail whose job has given up;
    return how many had a pending step. Each has a transaction of its own, so that it can be ended at any time."""
    waiting = SignatureRequest.objects.filter(status=RequestStatus.COMPLETED, finalized=False).order_by("pk")
    wanted = dict.fromkeys([*waiting.values_list("pk", flat=True).iterator(), *_with_failed_mails()])
    return sum(bool(retry(request_id)) for request_id in wanted)


def _with_failed_mails() -> list[int]:
    """Return the requests with an invitation, or a mail about a decline, that was given up."""
    failed = ProcrastinateJob.objects.filter(status="failed")
    signers, names = (
        [args[argument] for args in failed.filter(task_name__in=tasks).values_list("args", flat=True)]
        for argument, tasks in _MAILS.items()
    )
    of_signers = Signer.objects.filter(pk__in=signers).exclude(request__status=RequestStatus.COMPLETED)
    of_senders = SenderMail.objects.filter(pk__in=names, request__declined_by__isnull=False)
    return [*of_signers.values_list("request_id", flat=True), *of_senders.values_list("request_id", flat=True)]


def _require_job(step: PendingStep, jobs: list[Job]) -> str:
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
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_jobs WHERE id = %s AND status = 'failed'", [job.id])


def _bring_forward(job: Job) -> bool:
    """Make the job due now. Return False when a worker has just started it."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET scheduled_at = now() WHERE id = %s AND status = 'todo'", [job.id])
        return bool(cursor.rowcount)
