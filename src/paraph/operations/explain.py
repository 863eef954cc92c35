"""An explanation of a request's state, in a sentence or two."""

from datetime import datetime, timedelta

from paraph.audit_trail.models import Entry, EventType
from paraph.evidence.models import SealingFailure
from paraph.flow.messages import limits
from paraph.kernel import clock
from paraph.operations.pending_work import Job, PendingStep, job_for, pending_steps
from paraph.operations.queue_state import queue_state
from paraph.operations.wrong_codes import wrong_codes
from paraph.signature_requests.models import Mode, RequestStatus, SignatureRequest, Signer, SignerStatus

_EXPIRED_WITHIN = timedelta(seconds=5)  # rule 3.1


def explain(request: SignatureRequest, jobs: list[Job]) -> str:
    """Says for whom or what the request waits, and what an operator can do about it."""
    if request.status == RequestStatus.EXPIRED:
        if request.ended_early_at:
            return f"It was ended early on {clock.iso(request.ended_early_at)}: {_reason(request)}"
        return f"It expired on {clock.iso(request.expires_at)}, not signed by {_names(_unsigned(request))}."
    steps = [_step(step, job_for(step, jobs), request) for step in pending_steps(request)]
    if request.status == RequestStatus.PENDING:
        return " ".join([_waiting_for_people(request), *steps])
    if not steps:
        if request.files_deleted_at:
            return f"It is finalized, and its files were deleted on {clock.iso(request.files_deleted_at)}."
        return "It is finalized: its sealed files and its proof can be downloaded."
    return " ".join(["It is completed.", *dict.fromkeys(steps)])


def _reason(request: SignatureRequest) -> str:
    entry = Entry.objects.get(request=request, event_type=EventType.EXPIRED)
    return str(entry.metadata["reason"])


def _waiting_for_people(request: SignatureRequest) -> str:
    if clock.now() > request.expires_at + _EXPIRED_WITHIN:
        return "Its time is over, and it is not marked as expired yet: is a worker alive?"
    unsigned = _unsigned(request)
    if request.mode == Mode.SEQUENTIAL:
        unsigned = unsigned[:1]
    until = clock.iso(request.expires_at)
    return " ".join([f"It waits for {_names(unsigned)} to sign, until {until}.", *_locks(request, unsigned)])


def _locks(request: SignatureRequest, signers: list[Signer]) -> list[str]:
    found = wrong_codes(request.pk)
    return [
        f"No code is sent to or taken from {signer.full_name} until {wrong['locked_until']}: "
        f"{wrong['count']} wrong ones were entered."
        for signer in signers
        if (wrong := found.get(signer.pk)) and wrong["locked_until"]
    ]


def _unsigned(request: SignatureRequest) -> list[Signer]:
    return list(Signer.objects.filter(request=request).exclude(status=SignerStatus.SIGNED).order_by("order"))


def _names(signers: list[Signer]) -> str:
    return " and ".join(signer.full_name for signer in signers)


def _step(step: PendingStep, job: Job | None, request: SignatureRequest) -> str:
    waits = f"It waits for {step.words}"
    again = f"paraph request retry {request.pk}"
    if job is None:
        return f"{waits}, but no job is there to do it: {again} asks for one."
    if job.status == "failed":
        return f"{waits}, whose job gave up after {job.attempts} attempts: {again} asks for a new one.{_cause(request)}"
    if job.status == "doing":
        return f"{waits}, which a worker is at."
    if job.waits_for_its_retry and job.scheduled_at:
        return f"{waits}{_retry(step, job, job.scheduled_at)}; {again} tries now.{_cause(request)}"
    if not queue_state().workers:
        return f"{waits}, and no worker is alive: start paraph worker or paraph serve."
    return f"{waits}, whose job is due."


def _retry(step: PendingStep, job: Job, due: datetime) -> str:
    if noted := limits.put_off(step.mails):
        reason = next(iter(noted.values())).reason
        return f", put off until {clock.iso(due)}, since {reason}"
    tried = f"{job.attempts} attempt{'s' if job.attempts != 1 else ''} failed"
    return f": {tried}, the next is due on {clock.iso(due)}"


def _cause(request: SignatureRequest) -> str:
    failure = SealingFailure.objects.filter(request=request).first()
    return f" The last cause: {failure.cause}" if failure else ""
