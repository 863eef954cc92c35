"""The steps that jobs have yet to do for a request, the jobs that do them, the state of their queue, and what is
overdue."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import Q
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.audit_trail.models import Entry, EventType
from paraph.database.base import all_rows, one_row
from paraph.evidence.models import ProofFile
from paraph.flow.events import lock_request
from paraph.flow.housekeeping.retention import Kept
from paraph.flow.messages.notices import due_mail, due_to_signer, to_be_notified
from paraph.flow.messages.sent_once import CONTACT, READ_ALONG, mail_name
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.queue.jobs import QUEUES, defer
from paraph.queue.stalled_jobs import DEAD_AFTER_SECONDS
from paraph.signature_requests.models import (
    ERASED_DOMAIN,
    CopyRecipient,
    Reminder,
    RequestDocument,
    RequestStatus,
    SenderMail,
    SignatureRequest,
    Signer,
    SignerStatus,
)
from paraph.signature_requests.signing import SigningEligibility, signing_eligibility
from paraph.tenants.models import MailKind

_TASKS = "paraph.flow.jobs."
_LIVE = ("todo", "doing")
_OLDEST = """
    SELECT least(
        (SELECT min(scheduled_at) FROM procrastinate_jobs WHERE status = 'todo' AND scheduled_at <= now()),
        (SELECT min(at) FROM procrastinate_events WHERE type = 'deferred' AND job_id = (
            SELECT min(id) FROM procrastinate_jobs WHERE status = 'todo' AND scheduled_at IS NULL))
    )
"""
_STATE = f"""
    SELECT extract(epoch FROM now() - ({_OLDEST}))::float8,
        (SELECT count(*) FROM procrastinate_jobs
         WHERE status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now())),
        (SELECT count(*) FROM procrastinate_jobs WHERE status = 'failed'),
        (SELECT ceil(count(*) / {len(QUEUES)}.0)::int FROM procrastinate_workers
         WHERE last_heartbeat > now() - interval '{DEAD_AFTER_SECONDS} s'),
        (SELECT is_called FROM procrastinate_jobs_id_seq)
"""  # noqa: S608  built from constants


@dataclass(frozen=True)
class PendingStep:
    """``task`` and ``arguments`` are those of :func:`paraph.queue.jobs.defer`; ``words`` complete "It waits for …".
    ``by_any``: any of the request's jobs of this task does it. ``mails``: names of the mails that it sends."""

    task: str
    arguments: Mapping[str, int | str]
    words: str
    by_any: bool = False
    mails: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """A job of the queue. ``status``: ``todo``, ``doing`` or ``failed``; ``scheduled_at``: None for at once."""

    id: int
    task: str
    arguments: dict[str, object]
    status: str
    attempts: int
    scheduled_at: datetime | None

    @property
    def is_live(self) -> bool:
        return self.status in _LIVE

    @property
    def waits_for_its_retry(self) -> bool:
        return self.status == "todo" and self.scheduled_at is not None and self.scheduled_at > clock.now()


def pending_steps(request: SignatureRequest) -> list[PendingStep]:
    """Return the steps that jobs can do for the request now; signing is none of them."""
    if request.status == RequestStatus.PENDING:
        return [*_invitations(request), *_reminders(request)]
    if request.status == RequestStatus.COMPLETED:
        return [*_summary(request), *_copies(request), *([] if request.finalized else _artefacts(request))]
    return list(_mails_of_end(request)) if request.ended_early_at else []


def jobs_of(request: SignatureRequest) -> list[Job]:
    """Return the request's live and failed jobs, oldest first."""
    signers = list(Signer.objects.filter(request=request).values_list("pk", flat=True))
    documents = list(RequestDocument.objects.filter(request=request).values_list("pk", flat=True))
    mails = list(SenderMail.objects.filter(request=request).values_list("pk", flat=True))
    rows = ProcrastinateJob.objects.filter(
        Q(args__request_id=request.pk)
        | Q(args__signer_id__in=signers)
        | Q(args__request_document_id__in=documents)
        | Q(args__name__in=mails),
        task_name__startswith=_TASKS,
        status__in=[*_LIVE, "failed"],
    )
    return [
        Job(row.id, row.task_name.removeprefix(_TASKS), row.args, row.status, row.attempts, row.scheduled_at)
        for row in rows.order_by("id")
    ]


def job_for(step: PendingStep, jobs: list[Job]) -> Job | None:
    """Return the job that does the step: a live one if there is any, else the latest that failed."""
    matching = [
        job
        for job in jobs
        if job.task == step.task and (step.by_any or step.arguments.items() <= job.arguments.items())
    ]
    return next((job for job in matching if job.is_live), matching[-1] if matching else None)


def _invitations(request: SignatureRequest) -> Iterator[PendingStep]:
    if not request.send_email:
        return
    uninvited = Signer.objects.filter(request=request, notified_at=None, undelivered__isnull=True)
    for signer in uninvited.select_related("request").order_by("order"):
        if signing_eligibility(signer) is SigningEligibility.OPEN:
            words = f"the invitation of {signer.full_name}"
            mails = (mail_name("invitation", signer.pk, turn=signer.replaced_links),)
            yield PendingStep("invite", {"signer_id": signer.pk}, words, mails=mails)


def _reminders(request: SignatureRequest) -> Iterator[PendingStep]:
    unsent = Reminder.objects.filter(signer__request=request, mail__isnull=True).exclude(
        signer__status=SignerStatus.SIGNED
    )
    for reminder in unsent.select_related("signer__request").order_by("pk"):
        arguments = {"signer_id": reminder.signer_id, "number": reminder.number}
        mails = (mail_name("reminder", reminder.signer_id, reminder.number, turn=reminder.signer.replaced_links),)
        yield PendingStep("send_reminder", arguments, f"a reminder for {reminder.signer.full_name}", mails=mails)


def _summary(request: SignatureRequest) -> Iterator[PendingStep]:
    notified = Entry.objects.filter(request=request, event_type=EventType.COMPLETION_NOTIFIED)
    reached = Signer.objects.filter(request=request, undelivered__isnull=True)
    if request.notify_signers_on_completion and reached and not notified.exclude(metadata__has_key="copies").exists():
        mails = tuple(mail_name("completion", each.pk) for each in reached if not each.completion_notified_at)
        yield PendingStep(
            "notify_completion", {"request_id": request.pk}, "the mails about its completion", mails=mails
        )


def _copies(request: SignatureRequest) -> Iterator[PendingStep]:
    wanted = CopyRecipient.objects.filter(request=request, notified_at=None, undelivered__isnull=True)
    unsent = wanted.exclude(email__endswith=ERASED_DOMAIN)
    if request.finalized and not request.files_deleted_at and (pks := unsent.values_list("pk", flat=True)):
        mails = tuple(mail_name("copy", pk) for pk in pks)
        yield PendingStep("mail_copies", {"request_id": request.pk}, "the mails with copies", mails=mails)


def _mails_of_end(request: SignatureRequest) -> Iterator[PendingStep]:
    about = "the decline" if request.declined_by_id else "the withdrawal"
    unsent = SenderMail.objects.filter(request=request, about=request.declined_by_id or 0, sent_at=None)
    for mail in unsent.filter(kind__in=(MailKind.DECLINED, CONTACT)).select_related(*READ_ALONG).order_by("-kind"):
        if due_mail(mail):
            words = f"the mail to {'the contact address' if mail.kind == CONTACT else 'the sender'} about {about}"
            yield PendingStep("tell_sender", {"name": mail.name}, words, mails=(mail_name("sender", mail.name),))
    for signer in to_be_notified(request).filter(end_told_at=None).exclude(email__endswith=ERASED_DOMAIN):
        if due_to_signer(signer):
            words, mails = f"the mail to {signer.full_name} about {about}", (mail_name("end", signer.pk),)
            yield PendingStep("tell_signer_of_end", {"signer_id": signer.pk}, words, mails=mails)


def _artefacts(request: SignatureRequest) -> list[PendingStep]:
    rows = RequestDocument.objects.filter(request=request).select_related("document", "sealed")
    seals = [
        PendingStep(
            "finalize", {"request_document_id": row.pk}, f"the seal of document {row.document_id} ({row.document.name})"
        )
        for row in rows
        if not hasattr(row, "sealed")
    ]
    if seals:
        return seals
    proven = ProofFile.objects.filter(request=request).exists()
    words = "the last check of its files" if proven else "its proof file"
    return [PendingStep("finalize", {"request_document_id": rows[len(rows) - 1].pk}, words, by_any=True)]


@dataclass(frozen=True)
class QueueState:
    """``oldest_seconds``: for how long the oldest due job has been due, 0 when none is. A job that waits for the time
    of its retry is not due. ``workers``: live processes, each of which registers once for each queue. ``used``: whether
    there ever was a job, which is so once a worker has run, because workers defer some by the clock."""

    oldest_seconds: float
    due: int
    failed: int
    workers: int
    used: bool


def queue_state() -> QueueState:
    """Read the state in one statement, by the database's clock."""
    [(oldest, *others)] = all_rows(_STATE)
    return QueueState(max(oldest or 0.0, 0.0), *others)


class Overdue(NamedTuple):
    """How long the longest overdue request has been overdue, and its organization and environment."""

    seconds: float
    organization_id: int
    environment: str


def longest_overdue(kept: Kept) -> Overdue | None:
    """Return the request whose files or people are kept longest beyond their retention; None if none is due."""
    late = f"extract(epoch FROM {kept.until} - make_interval(days => {kept.days}) - ended_at)::float8"
    statement = f"SELECT {late}, organization_id, environment {kept.due('1')} ORDER BY 1 DESC LIMIT 1"
    found = one_row(statement, {"now": clock.now()})
    return Overdue(*found) if found else None


_MAILS = {
    "signer_id": ["paraph.flow.jobs.invite", "paraph.flow.jobs.tell_signer_of_end"],
    "name": ["paraph.flow.jobs.tell_sender"],
}


@dataclass(frozen=True)
class Retried:
    """A step and what was done for it. ``outcome``: ``deferred`` (a new job), ``brought forward`` (its job waited for
    its next attempt), ``waiting`` (its job is due already) or ``running``."""

    task: str
    words: str
    outcome: str


def retry(request_id: int) -> list[Retried]:
    """Give every pending step a job that is due now. Return an empty list when no step is pending. Calling this is safe
    while the service runs, and twice: it holds the request's row lock, as every step does when it defers the next one,
    so no step gets a second job. Raise ``DomainError("not_found", …)``."""
    import paraph.flow.jobs  # noqa: F401, PLC0415  the tasks that defer() names; they bring the whole flow with them

    with transaction.atomic():
        try:
            request = lock_request(request_id)
        except SignatureRequest.DoesNotExist:
            raise DomainError("not_found", f"There is no signature request {request_id}.") from None
        jobs = jobs_of(request)
        return [Retried(step.task, step.words, _require_job(step, jobs)) for step in pending_steps(request)]


def retry_all(most: int | None = None) -> int:
    """Retry every completed request that is not finalized and every other request with a mail whose job was given up,
    or the first ``most`` of them, each in a transaction of its own; return how many had a pending step."""
    waiting = SignatureRequest.objects.filter(status=RequestStatus.COMPLETED, finalized=False).order_by("pk")
    wanted = dict.fromkeys([*waiting.values_list("pk", flat=True).iterator(), *_with_failed_mails()])
    return sum(bool(retry(request_id)) for request_id in islice(wanted, most))


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
            with connection.cursor() as cursor:
                cursor.execute("DELETE FROM procrastinate_jobs WHERE id = %s AND status = 'failed'", [job.id])
        defer(step.task, **step.arguments)
        return "deferred"
    if job.waits_for_its_retry:
        return "brought forward" if _bring_forward(job) else "running"
    return "waiting" if job.status == "todo" else "running"


def _bring_forward(job: Job) -> bool:
    """Make the job due now. Return False when a worker has just started it."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET scheduled_at = now() WHERE id = %s AND status = 'todo'", [job.id])
        return bool(cursor.rowcount)
