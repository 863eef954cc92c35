"""Why requests are not finalized yet: noted until they are, for operators and for clients."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import F

from paraph.evidence.models import SealingFailure
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import ReadersUnavailable, SealError

_MAX_CAUSE_LENGTH = 2000
_MAX_SENTENCE_LENGTH = 500
_FILE = "file"
_KINDS = {"internal_error": "stored", "configuration": "settings", "unavailable": "key"}  # by code of DomainError
_SENTENCES = {
    _FILE: "The file cannot be sealed: %s",
    "stored": "A stored file is not the one that was put there.",
    "settings": "The service is not set up to seal at the moment.",
    "key": "The sealing key of the service does not answer.",
    "machine": "The machine of the service has no time or memory to seal.",
    "outside": "The storage, the database or the network of the service fails.",
}


@contextmanager
def noted(request_id: int, stage: str) -> Iterator[None]:
    """Note an exception of the block with its stage (``seal``, ``prove`` or ``publish``), and raise it again. Must be
    entered outside of transactions, as the note must survive a rollback."""
    try:
        yield
    except Exception as error:
        note(request_id, stage, error)
        raise


def note(request_id: int, stage: str, error: Exception) -> None:
    """Record the latest cause, and count the attempt."""
    latest = {"stage": stage, "kind": _kind(error), "cause": cause_of(error), "failed_at": clock.now()}
    again = latest | {"attempts": F("attempts") + 1}
    SealingFailure.objects.update_or_create(again, create_defaults=latest, request_id=request_id)


def clear(request_id: int) -> None:
    SealingFailure.objects.filter(request=request_id).delete()


def cause_of(error: BaseException) -> str:
    """Return the cause as operators see it. It may name paths and hosts."""
    text = error.message if isinstance(error, DomainError) else str(error)
    kind = "" if isinstance(error, DomainError) else f"{type(error).__name__}: "
    return f"{kind}{text}"[:_MAX_CAUSE_LENGTH].replace("\0", "")


def public_cause(failure: SealingFailure) -> str:
    """Return the cause as clients see it: one sentence without details of the machine."""
    sentence = _SENTENCES.get(failure.kind, "A fault of the service.")
    if failure.kind != _FILE:
        return sentence
    return (sentence % failure.cause.partition(": ")[2])[:_MAX_SENTENCE_LENGTH]


def _kind(error: Exception) -> str:
    if isinstance(error, SealError):
        return _FILE
    if isinstance(error, ReadersUnavailable):
        return "machine"
    if isinstance(error, DomainError):
        return _KINDS.get(error.code, "")
    return "outside" if isinstance(error, OSError | DatabaseError) else ""


# A document without a seal needs a live job of its own; once all are sealed, the job of any one does the rest.
_GIVEN_UP = """
    SELECT request.id FROM signature_requests_signaturerequest request
    WHERE request.id = ANY(%s) AND NOT request.finalized AND (
        EXISTS (
            SELECT FROM signature_requests_requestdocument document
            WHERE document.request_id = request.id
                AND NOT EXISTS (SELECT FROM evidence_sealeddocument WHERE request_document_id = document.id)
                AND NOT EXISTS (SELECT FROM live WHERE request_document_id = document.id)
        ) OR NOT EXISTS (
            SELECT FROM signature_requests_requestdocument document
            JOIN live ON live.request_document_id = document.id WHERE document.request_id = request.id
        )
    )
"""
_LIVE = """
    WITH live AS MATERIALIZED (
        SELECT (args->>'request_document_id')::bigint AS request_document_id FROM procrastinate_jobs
        WHERE task_name = 'paraph.flow.jobs.finalize' AND status IN ('todo', 'doing')
    )
"""


def given_up(request_ids: Collection[int] | None = None) -> set[int]:
    """Return the ids of the requests that wait for ``paraph request retry``, among those given or among all. A request
    has given up when no live job in the queue can bring what it lacks, whether that job failed or was lost. The queue
    is read only while something fails."""
    failing = SealingFailure.objects.all()
    if request_ids is not None:
        failing = failing.filter(request_id__in=request_ids)
    ids = list(failing.values_list("request_id", flat=True))
    if not ids:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_LIVE + _GIVEN_UP, [ids])
        return {request_id for (request_id,) in cursor.fetchall()}


def sealing_failures(*, given_up_only: bool, limit: int) -> list[dict[str, Any]]:
    """Return, as JSON, the requests with a recorded fault, oldest first. ``given_up`` is true when no job tries a step
    again, until ``paraph request retry`` defers one."""
    faults = SealingFailure.objects.filter(request__finalized=False).order_by("request_id")
    gave_up = given_up()
    if given_up_only:
        faults = faults.filter(request_id__in=gave_up)
    return [
        {
            "request_id": fault.request_id,
            "organization_id": fault.request.organization_id,
            "organization": fault.request.organization.name,
            "environment": fault.request.environment,
            **fault.facts,
            "given_up": fault.request_id in gave_up,
        }
        for fault in faults.select_related("request__organization")[:limit]
    ]


def finalization(request_id: int) -> dict[str, Any] | None:
    """Return the fault that keeps a request from being finalized, as its client may see it; None when there is none."""
    fault = SealingFailure.objects.filter(request=request_id, request__finalized=False).first()
    if fault is None:
        return None
    state = "given_up" if given_up([request_id]) else "retrying"
    return {"state": state, **fault.facts, "cause": public_cause(fault)}
