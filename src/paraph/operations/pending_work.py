"""What a request still needs, and the job that brings it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import Q
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.evidence.models import ProofFile
from paraph.journal.models import Entry
from paraph.kernel import clock
from paraph.signature_requests.models import RequestDocument, RequestStatus, SignatureRequest, Signer
from paraph.signature_requests.signing_eligibility import Standing, standing

_TASKS = "paraph.flow.jobs."
_LIVE = ("todo", "doing")


@dataclass(frozen=True)
class PendingStep:
    """``task`` with ``arguments``, as :func:`paraph.queue.defer.defer` takes them; ``words`` complete "waits for".
    ``by_any``: any job of the task brings it, whatever its arguments. ``mails``: names of the mails that it sends."""

    task: str
    arguments: dict[str, int]
    words: str
    by_any: bool = False
    mails: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """``status`` is the queue's: ``todo``, ``doing``, ``failed``, …; ``scheduled_at`` is None for at once."""

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
    """What jobs have yet to do for the request as it stands; what people have yet to do is none of it."""
    if request.status == RequestStatus.PENDING:
        return list(_invitations(request))
    if request.status == RequestStatus.COMPLETED:
        return [*_summary(request), *([] if request.finalized else _artefacts(request))]
    return []


def jobs_of(request: SignatureRequest) -> list[Job]:
    """The request's jobs that have not succeeded, oldest first."""
    signers = list(Signer.objects.filter(request=request).values_list("pk", flat=True))
    documents = list(RequestDocument.objects.filter(request=request).values_list("pk", flat=True))
    rows = ProcrastinateJob.objects.filter(
        Q(args__request_id=request.pk) | Q(args__signer_id__in=signers) | Q(args__request_document_id__in=documents),
        task_name__startswith=_TASKS,
        status__in=[*_LIVE, "failed"],
    )
    return [
        Job(row.id, row.task_name.removeprefix(_TASKS), row.args, row.status, row.attempts, row.scheduled_at)
        for row in rows.order_by("id")
    ]


def job_for(step: PendingStep, jobs: list[Job]) -> Job | None:
    """The step's job: a live one if there is any, else the last that gave up."""
    own = [
        job
        for job in jobs
        if job.task == step.task and (step.by_any or step.arguments.items() <= job.arguments.items())
    ]
    return next((job for job in own if job.is_live), own[-1] if own else None)


def _invitations(request: SignatureRequest) -> Iterator[PendingStep]:
    if not request.send_email:
        return
    for signer in Signer.objects.filter(request=request, notified_at=None).select_related("request").order_by("order"):
        if standing(signer) is Standing.OPEN:
            words = f"the invitation of {signer.full_name}"
            yield PendingStep("invite", {"signer_id": signer.pk}, words, mails=(f"invitation-{signer.pk}",))


def _summary(request: SignatureRequest) -> Iterator[PendingStep]:
    told = Entry.objects.filter(request=request, event_type="request.completion_notified").exists()
    if request.notify_signers_on_completion and not told:
        unsent = Signer.objects.filter(request=request, completion_notified_at=None).values_list("pk", flat=True)
        mails = tuple(f"completion-{pk}" for pk in unsent)
        yield PendingStep(
            "notify_completion", {"request_id": request.pk}, "the mails about its completion", mails=mails
        )


def _artefacts(request: SignatureRequest) -> list[PendingStep]:
    rows = RequestDocument.objects.filter(request=request).select_related("document", "sealed")
    steps = [(row, PendingStep("finalize", {"request_document_id": row.pk}, _seal_of(row))) for row in rows]
    seals = [step for row, step in steps if not hasattr(row, "sealed")]
    if seals:
        return seals
    proven = ProofFile.objects.filter(request=request).exists()
    return [replace(steps[-1][1], words="the last check of its files" if proven else "its proof file", by_any=True)]


def _seal_of(row: RequestDocument) -> str:
    return f"the seal of document {row.document_id} ({row.document.name})"
