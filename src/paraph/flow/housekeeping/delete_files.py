"""Deleting the files of requests whose retention is over (docs/decisions/retention.md)."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from paraph.audit_trail.commitments import entered_values, erase_values
from paraph.documents import objects_to_delete
from paraph.documents.models import Document
from paraph.drafts.models import DocumentTags
from paraph.evidence.models import KeptTimestamp, ProofFile, SealedDocument
from paraph.flow.events import lock_request
from paraph.kernel import clock
from paraph.request_templates.models import TemplateDocument
from paraph.signature_requests.models import (
    Field,
    Reminder,
    RequestDocument,
    RequestStatus,
    SignatureRequest,
    Signer,
)
from paraph.tenants.models import Retention

_RUN_SECONDS = 15.0  # a worker that is asked to stop waits for the job
_AT_ONCE = 100

_log = structlog.get_logger("paraph.retention")


def delete_due_files(seconds: float = _RUN_SECONDS) -> int:
    """Delete the files of requests that ended longer ago than the retention of their organization and environment says,
    for at most so many seconds. Return how many requests lost their files.

    Safe to repeat, to run twice at once, and to be killed. Raise what the store raises; the next run deletes the
    objects that it did not.
    """
    end = time.monotonic() + seconds

    def is_over() -> bool:
        return time.monotonic() > end

    objects_to_delete.delete_noted(is_over)  # what an earlier run left
    deleted = sum(delete_files(request_id) for request_id in _due(is_over))
    objects_to_delete.delete_noted(is_over)
    if deleted:
        _log.info("files deleted", requests=deleted)
    return deleted


def overdue(rule: Retention, since: timedelta = timedelta(0)) -> QuerySet[SignatureRequest]:
    """Return the requests whose files have outlived their retention, the earliest ended first. ``since``: only those
    that have outlived it by so long."""
    over = SignatureRequest.objects.filter(~Q(status=RequestStatus.PENDING), files_deleted_at=None)
    ended = over.annotate(ended_at=Coalesce("completed_at", "ended_early_at", "expires_at")).filter(
        organization=rule.organization_id,
        environment=rule.environment,
        ended_at__lte=clock.now() - timedelta(days=rule.days) - since,
    )
    return ended.exclude(status=RequestStatus.COMPLETED, finalized=False).order_by("ended_at")


@transaction.atomic
def delete_files(request_id: int) -> bool:
    """Delete the rows of sealed files, proof, kept timestamps, handwriting and values of fields, those in the journal
    too, and what was written to the signers, and note the objects to be deleted; uploads are kept while another request
    or a template has them. Returns False where a request is not over, or has no files left."""
    request = lock_request(request_id)
    if request.files_deleted_at or not is_over(request):
        return False
    keys = [*_delete_sealed(request_id), *_delete_uploads(request_id)]
    of_signers = {"signature_encrypted": None, "initials_encrypted": None, "fields_encrypted": None}
    Signer.objects.filter(request=request_id).update(**of_signers)
    Field.objects.filter(request_document__request=request_id).exclude(value=None).update(value=None)
    Reminder.objects.filter(signer__request=request_id).exclude(message="").update(message="")
    erase_values(entered_values(request_id), {})
    request.files_deleted_at = clock.now()
    request.subject = request.message = ""
    request.save(update_fields=["files_deleted_at", "subject", "message"])
    objects_to_delete.note(keys)
    return True


def _due(is_over: Callable[[], bool]) -> Iterator[int]:
    for rule in Retention.objects.order_by("organization_id", "environment"):
        last: list[int] = []
        while (
            not is_over() and (found := list(overdue(rule).values_list("pk", flat=True)[:_AT_ONCE])) and found != last
        ):
            for request_id in found:
                if is_over():
                    return
                yield request_id
            last = found


def is_over(request: SignatureRequest) -> bool:
    """Return whether the service has nothing left to do for a request."""
    return request.finalized or request.status == RequestStatus.EXPIRED


def _delete_sealed(request_id: int) -> list[str]:
    sealed = SealedDocument.objects.filter(request_document__request=request_id)
    proofs = ProofFile.objects.filter(request=request_id)
    keys = [*sealed.values_list("object_key", flat=True), *proofs.values_list("object_key", flat=True)]
    KeptTimestamp.objects.filter(object_key__in=keys).delete()
    sealed.delete()
    proofs.delete()
    return keys


def _delete_uploads(request_id: int) -> set[str]:
    """Delete the uploads that nothing else uses. Their documents are locked first: of two requests that go at once, the
    second sees that the first is gone, and one that is created meanwhile is refused."""
    of_request = RequestDocument.objects.filter(request=request_id).values("document")
    documents = Document.objects.filter(pk__in=of_request, file_deleted_at=None).order_by("pk")
    locked = list(documents.select_for_update())
    others = RequestDocument.objects.filter(document__in=locked, request__files_deleted_at=None)
    used = set(others.exclude(request=request_id).values_list("document_id", flat=True))
    used |= set(TemplateDocument.objects.filter(document__in=locked).values_list("document_id", flat=True))
    gone = [document for document in locked if document.pk not in used]
    Document.objects.filter(pk__in=[document.pk for document in gone]).update(file_deleted_at=clock.now())
    DocumentTags.objects.filter(document__in=gone).delete()  # words of the pages
    return {key for document in gone for key in (document.object_key, document.shown_key)}
