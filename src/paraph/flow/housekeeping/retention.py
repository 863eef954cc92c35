"""Finding requests that ended so long ago that the rules of their organizations have their files deleted, or their
people forgotten, a few at a time for each worker; and deleting their files (docs/decisions/retention.md)."""

import time
from collections.abc import Collection
from typing import Any, NamedTuple

import structlog
from django.db import transaction
from django.db.models import Q

from paraph.audit_trail.journal import ENTERED, erase_values, values_in
from paraph.database.base import planned
from paraph.documents import objects_to_delete
from paraph.documents.models import Document
from paraph.drafts.models import DocumentTags
from paraph.evidence.models import BundleTimestamp, KeptTimestamp, ProofFile, SealedDocument
from paraph.kernel import clock
from paraph.queue.jobs import RUN_SECONDS
from paraph.request_templates.models import TemplateDocument
from paraph.signature_requests.models import Field, Reminder, RequestDocument, RequestStatus, SignatureRequest, Signer

_ENDED_AT = "coalesce(completed_at, ended_early_at, expires_at)"
# The rules come in random order, so that one with a million due requests holds up no other.
_DUE = f"""
    FROM (SELECT * FROM organizations_retention WHERE {{days}} IS NOT NULL ORDER BY random()) AS rule
    CROSS JOIN LATERAL (
        SELECT id, {_ENDED_AT} AS ended_at FROM signature_requests_signaturerequest
        WHERE organization_id = rule.organization_id AND environment = rule.environment AND {{still}}
            AND {_ENDED_AT} <= {{until}} - make_interval(days => rule.{{days}})
        ORDER BY {_ENDED_AT} LIMIT {{limit}}
    ) AS request
"""  # noqa: S608  our own names


class Kept(NamedTuple):
    """Something that requests keep until their end is as many days before ``until`` as the column ``days`` of the rule
    says. ``still``: the condition that a request still has it."""

    days: str
    still: str
    until: str = "%(now)s::timestamptz"

    def due(self, limit: str) -> str:
        """Return the statement that finds due requests, at most ``limit`` for each rule, from its ``FROM`` on."""
        return _DUE.format(**self._asdict(), limit=limit)


FILES = Kept(
    "days", "status <> 'pending' AND files_deleted_at IS NULL AND NOT (status = 'completed' AND NOT finalized)"
)
PEOPLE = Kept(
    "people_days",
    "files_deleted_at IS NOT NULL AND people_forgotten_at IS NULL",
    "date_trunc('day', %(now)s::timestamptz, 'UTC')",  # so that an organization's log tells of it once a day
)


def claim_due(kept: Kept, most: int) -> list[int]:
    """Return the ids of due requests, for each rule those that ended first, and lock them until the transaction ends.
    Requests that another transaction has locked are left out."""
    due = kept.due("%(most)s FOR NO KEY UPDATE SKIP LOCKED")
    found = planned(f"SELECT request.id {due} LIMIT %(most)s", {"now": clock.now(), "most": most})
    return [request_id for (request_id,) in found.fetchall()]


OVER = Q(finalized=True) | Q(status=RequestStatus.EXPIRED)
"""Requests that the service has nothing left to do for."""

_AT_ONCE = 50

_log = structlog.get_logger("paraph.retention")


def delete_due_files(seconds: float = RUN_SECONDS) -> int:
    """Delete the files of requests that ended longer ago than the retention of their organization and environment says,
    for at most ``seconds``. Return how many requests lost their files. Safe to repeat, to be killed, and to run several
    times at once, each with requests and objects of its own. Raise what the store raises; the next run deletes the
    objects that this one did not."""
    end, deleted = time.monotonic() + seconds, 0

    def is_over() -> bool:
        return time.monotonic() > end

    objects_to_delete.delete_noted(is_over)  # what an earlier run left
    while not is_over() and (some := _delete_some()):
        deleted += some
        objects_to_delete.delete_noted(is_over)
    if deleted:
        _log.info("files deleted", requests=deleted)
    return deleted


@transaction.atomic
def _delete_some() -> int:
    return delete_files(*claim_due(FILES, _AT_ONCE))


@transaction.atomic
def delete_files(*request_ids: int) -> int:
    """Delete the rows of sealed files, proof, their timestamps, handwriting and values of fields, those in the journal
    too, and what was written to the signers, and note the objects to be deleted; uploads are kept while another request
    or a template has them. Leave out requests that are not over, or have no files left; return how many lost their
    files."""
    with_files = SignatureRequest.objects.filter(OVER, pk__in=request_ids, files_deleted_at=None)
    found = [request.pk for request in with_files.order_by("pk").select_for_update(no_key=True).only("pk")]
    if not found:
        return 0
    SignatureRequest.objects.filter(pk__in=found).update(files_deleted_at=clock.now(), subject="", message="")
    objects_to_delete.note(_delete_sealed(found))
    delete_unkept(RequestDocument.objects.filter(request__in=found).values("document"), TemplateDocument)
    of_signers = {"signature_encrypted": None, "initials_encrypted": None, "fields_encrypted": None}
    Signer.objects.filter(request__in=found).update(**of_signers)
    Field.objects.filter(request_document__request__in=found).exclude(value=None).update(value=None)
    Reminder.objects.filter(signer__request__in=found).exclude(message="").update(message="")
    erase_values(values_in(found, ENTERED), {})
    return len(found)


def _delete_sealed(request_ids: Collection[int]) -> list[str]:
    sealed = SealedDocument.objects.filter(request_document__request__in=request_ids)
    proofs = ProofFile.objects.filter(request__in=request_ids)
    keys = [*sealed.values_list("object_key", flat=True), *proofs.values_list("object_key", flat=True)]
    KeptTimestamp.objects.filter(object_key__in=keys).delete()
    BundleTimestamp.objects.filter(request__in=request_ids).delete()
    sealed.delete()
    proofs.delete()
    return keys


def delete_unkept(documents: Any, *keepers: Any) -> list[Document]:
    """Mark the uploads of these documents as deleted, note their objects, and return the documents, except those that a
    request which has its files, or one of the tables ``keepers``, still uses. The documents are locked first: of two
    requests that go at once, the second sees that the first is gone, and one that is created meanwhile is refused."""
    locked = list(Document.objects.filter(pk__in=documents, file_deleted_at=None).order_by("pk").select_for_update())
    rows = [RequestDocument.objects.filter(request__files_deleted_at=None), *(table.objects.all() for table in keepers)]
    kept = {pk for each in rows for pk in each.filter(document__in=locked).values_list("document_id", flat=True)}
    gone = [document for document in locked if document.pk not in kept]
    Document.objects.filter(pk__in=[document.pk for document in gone]).update(file_deleted_at=clock.now())
    DocumentTags.objects.filter(document__in=gone).delete()  # words of the pages
    objects_to_delete.note({key for document in gone for key in (document.object_key, document.shown_key)})
    return gone
