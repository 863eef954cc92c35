"""Everything that operators may see of a request, in data and in a sentence or two."""

from datetime import datetime, timedelta
from typing import Any

from paraph.audit_trail.journal import broken_at
from paraph.audit_trail.models import Entry
from paraph.evidence.models import ProofFile, SealedDocument, SealingFailure
from paraph.evidence.sealed_files import SealedFile, records_of
from paraph.flow.messages import limits
from paraph.kernel import clock
from paraph.messaging.models import PutOffMail
from paraph.operations.pending_work import Job, PendingStep, job_for, jobs_of, pending_steps, queue_state
from paraph.otp.guesses import WrongCodesSummary, wrong_codes
from paraph.pdf.timestamps.detached_timestamps import timestamps_file
from paraph.signature_requests.fields.entry import signed_fields
from paraph.signature_requests.models import (
    CopyRecipient,
    Mode,
    RequestDocument,
    RequestStatus,
    SignatureRequest,
    Signer,
    SignerStatus,
)
from paraph.tenants.scope import existing
from paraph.webhooks.all_deliveries import latest_deliveries

_MOST_DELIVERIES = 1000
_EXPIRED_WITHIN = timedelta(seconds=5)  # rule 3.1


def request_state(request_id: int) -> dict[str, Any]:
    """Return the request as JSON without signing addresses, codes or keys. Raise ``DomainError("not_found", …)``."""
    request = _request(request_id)
    jobs = jobs_of(request)
    wrong = wrong_codes(request.pk)
    waiting = limits.put_off(name for step in pending_steps(request) for name in step.mails)
    fields = signed_fields([request.pk])[request.pk]
    failure = SealingFailure.objects.filter(request=request).first()
    entries = list(Entry.objects.filter(request=request).order_by("position"))
    return {
        "id": request.pk,
        "why": explain(request, jobs),
        **_named(request, "organization_id", "application_id", "environment"),
        "external_id": request.external_id or None,
        "metadata": request.metadata or {},
        "redirect_url": request.redirect_url or None,
        "reminders": _reminders(request),
        "decline_allowed": request.decline_allowed,
        "declined_by": request.declined_by_id,
        **_named(request, "mode", "status", "finalized"),
        "created_at": clock.iso(request.created_at),
        "expires_at": clock.iso(request.expires_at),
        "completed_at": _iso(request.completed_at),
        "signers": [
            {
                **_signer(signer, wrong.get(signer.pk), waiting),
                "fields": [each.facts() for each in fields if each.field.signer_id == signer.pk],
            }
            for signer in Signer.objects.filter(request=request).order_by("order")
        ],
        "copies": [
            {
                **_named(copy, "full_name", "email"),
                "notified_at": _iso(copy.notified_at),
                "undelivered": copy.undelivered,
            }
            for copy in CopyRecipient.objects.filter(request=request)
        ],
        "documents": _documents(request),
        "proof": _seal(ProofFile.objects.filter(request=request).first()),
        "sealing_failure": failure.facts if failure else None,
        "jobs": [{**vars(job), "scheduled_at": _iso(job.scheduled_at)} for job in jobs],
        "deliveries": latest_deliveries(failed_only=False, limit=_MOST_DELIVERIES, request_id=request.pk),
        "journal": [
            {
                **_named(entry, "position", "event_type", "signer_id", "ip"),
                "metadata": entry.stated,
                "created_at": clock.iso_milliseconds(entry.created_at),
            }
            for entry in entries
        ],
        "journal_broken_at": broken_at(entries),
    }


def _request(request_id: int) -> SignatureRequest:
    return existing(SignatureRequest.objects.filter(pk=request_id), f"There is no signature request {request_id}.")


def _reminders(request: SignatureRequest) -> dict[str, int] | None:
    if request.remind_every_days is None or request.reminders_at_most is None:
        return None
    return {"every_days": request.remind_every_days, "at_most": request.reminders_at_most}


def _signer(signer: Signer, wrong: WrongCodesSummary | None, waiting: dict[str, PutOffMail]) -> dict[str, Any]:
    return {
        **_named(signer, "id", "order", "full_name", "email", "role", "status"),
        "notified_at": _iso(signer.notified_at),
        "signed_at": _iso(signer.signed_at),
        "wrong_codes": wrong,
        "put_off": _put_off(signer, waiting),
        "undelivered": signer.undelivered,
    }


def _put_off(signer: Signer, waiting: dict[str, PutOffMail]) -> dict[str, Any] | None:
    """Return the signer's mail that is put off until a message ceiling leaves room for it."""
    for mail in ("invitation", "completion"):
        if noted := waiting.get(f"{mail}-{signer.pk}"):
            return {"mail": mail, "until": clock.iso(noted.until), "reason": noted.reason}
    return None


def _documents(request: SignatureRequest) -> list[dict[str, Any]]:
    sealed = {row.request_document_id: row for row in SealedDocument.objects.filter(request_document__request=request)}
    return [
        {"id": row.document_id, "name": row.document.name, "seal": _seal(sealed.get(row.pk))}
        for row in RequestDocument.objects.filter(request=request).select_related("document")
    ]


def _seal(made: SealedDocument | ProofFile | None) -> dict[str, Any] | None:
    return {"object_key": made.object_key, **made.facts} if made else None


def _named(row: object, *names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _iso(moment: datetime | None) -> str | None:
    return clock.iso(moment) if moment else None


def explain(request: SignatureRequest, jobs: list[Job]) -> str:
    """Say for whom or what the request waits, and what an operator can do about it."""
    steps = [_step(step, job_for(step, jobs), request) for step in pending_steps(request)]
    people: list[Signer | CopyRecipient] = [*request.signers.all(), *request.copies.all()]
    refused = (each for each in people if each.undelivered)
    steps += [f"A message to {each.full_name} was refused for good: {each.undelivered['answer']}." for each in refused]
    if request.status == RequestStatus.EXPIRED:
        return " ".join([_how_it_ended(request), *steps])
    if request.status == RequestStatus.PENDING:
        return " ".join([_waiting_for_people(request), *steps])
    if not steps:
        if request.files_deleted_at:
            return f"It is finalized, and its files were deleted on {clock.iso(request.files_deleted_at)}."
        return "It is finalized: its sealed files and its proof can be downloaded."
    return " ".join(["It is completed.", *dict.fromkeys(steps)])


def _how_it_ended(request: SignatureRequest) -> str:
    if not request.ended_early_at:
        return f"It expired on {clock.iso(request.expires_at)}, not signed by {_names(_unsigned(request))}."
    moment, reason = clock.iso(request.ended_early_at), request.ended_reason
    if request.declined_by:
        return f"It was declined by {request.declined_by.full_name} on {moment}: {reason or 'the reason is erased.'}"
    return f"It was ended early on {moment}: {reason}"


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


def request_evidence(request_id: int) -> bytes:
    """Return JSON with the detached timestamps of each file that has any. Raise ``DomainError("not_found", …)``."""
    _request(request_id)
    sealed = SealedDocument.objects.filter(request_document__request_id=request_id)
    files: list[tuple[SealedFile, str]] = [
        (row, row.request_document.document.name)
        for row in sealed.select_related("request_document__document").order_by("request_document__position")
    ]
    files += [(row, "proof") for row in ProofFile.objects.filter(request_id=request_id)]
    return timestamps_file({bytes(row.sha256): (name, records_of(row.object_key)) for row, name in files})
