"""Everything that operators may see of a request."""

from typing import Any

from paraph.audit_trail.append import broken_at
from paraph.audit_trail.models import Entry
from paraph.evidence.models import ProofFile, SealedDocument, SealingFailure
from paraph.flow.messages import limits
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.models import PutOffMail
from paraph.operations.explain import explain
from paraph.operations.pending_work import Job, jobs_of, pending_steps
from paraph.operations.wrong_codes import WrongCodesSummary, wrong_codes
from paraph.signature_requests.models import RequestDocument, SignatureRequest, Signer
from paraph.webhooks.overview import deliveries

_MOST_DELIVERIES = 1000


def request_state(request_id: int) -> dict[str, Any]:
    """The request as a JSON object without signing addresses, codes or keys. Raises ``DomainError("not_found", …)``."""
    request = SignatureRequest.objects.filter(pk=request_id).first()
    if request is None:
        raise DomainError("not_found", f"There is no signature request {request_id}.")
    jobs = jobs_of(request)
    wrong = wrong_codes(request.pk)
    waiting = limits.put_off(name for step in pending_steps(request) for name in step.mails)
    entries = list(Entry.objects.filter(request=request).order_by("position"))
    return {
        "id": request.pk,
        "why": explain(request, jobs),
        "organization_id": request.organization_id,
        "application_id": request.application_id,
        "environment": request.environment,
        "mode": request.mode,
        "status": request.status,
        "finalized": request.finalized,
        "created_at": clock.iso(request.created_at),
        "expires_at": clock.iso(request.expires_at),
        "completed_at": clock.iso(request.completed_at) if request.completed_at else None,
        "signers": [
            _signer(signer, wrong.get(signer.pk), waiting)
            for signer in Signer.objects.filter(request=request).order_by("order")
        ],
        "documents": _documents(request),
        "proof": _seal(ProofFile.objects.filter(request=request).first()),
        "sealing_failure": _failure(SealingFailure.objects.filter(request=request).first()),
        "jobs": [_job(job) for job in jobs],
        "deliveries": deliveries(failed_only=False, limit=_MOST_DELIVERIES, request_id=request.pk),
        "journal": [_entry(entry) for entry in entries],
        "journal_broken_at": broken_at(entries),
    }


def _signer(signer: Signer, wrong: WrongCodesSummary | None, waiting: dict[str, PutOffMail]) -> dict[str, Any]:
    return {
        "id": signer.pk,
        "order": signer.order,
        "full_name": signer.full_name,
        "email": signer.email,
        "status": signer.status,
        "notified_at": clock.iso(signer.notified_at) if signer.notified_at else None,
        "signed_at": clock.iso(signer.signed_at) if signer.signed_at else None,
        "wrong_codes": wrong,
        "put_off": _put_off(signer, waiting),
    }


def _put_off(signer: Signer, waiting: dict[str, PutOffMail]) -> dict[str, Any] | None:
    """The signer's mail that is put off until a message ceiling leaves room for it."""
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
    if made is None:
        return None
    return {
        "object_key": made.object_key,
        "sealed_at": clock.iso_milliseconds(made.created_at),  # rows of this version say it themselves, more exactly
        **{name: fact for name, fact in made.seal.items() if name != "certificates"},
    }


def _failure(failure: SealingFailure | None) -> dict[str, Any] | None:
    if failure is None:
        return None
    return {
        "stage": failure.stage,
        "cause": failure.cause,
        "attempts": failure.attempts,
        "failed_at": clock.iso(failure.failed_at),
    }


def _job(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "task": job.task,
        "arguments": job.arguments,
        "status": job.status,
        "attempts": job.attempts,
        "scheduled_at": clock.iso(job.scheduled_at) if job.scheduled_at else None,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "position": entry.position,
        "event_type": entry.event_type,
        "signer_id": entry.signer_id,
        "ip": entry.ip,
        "metadata": entry.metadata,
        "created_at": clock.iso_milliseconds(entry.created_at),
    }
