"""Removing what nothing needs any more: counts of windows that are over, what crashes left in storage, page pictures
that can be drawn again, and documents that no request, draft or template uses: one that a member names, and all that
are old."""

import time
from datetime import timedelta
from itertools import islice, pairwise

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils.translation import gettext as _

from paraph.counts import counting
from paraph.documents import objects_to_delete
from paraph.documents.models import Document
from paraph.drafts.editing import delete_unused_drafts
from paraph.drafts.models import DraftDocument
from paraph.evidence.named_objects import PREFIXES, named_among
from paraph.evidence.sealed_files import forget_unused
from paraph.flow.messages.limits import forget_put_off
from paraph.idempotency import held_key
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging import gateways
from paraph.messaging.models import RefusedAddress
from paraph.otp import codes
from paraph.queue.jobs import RUN_SECONDS, defer, defer_last, is_live
from paraph.request_templates.bulk_rows import delete_old_bulk_sends
from paraph.request_templates.models import TemplateDocument
from paraph.signature_requests.models import RequestDocument
from paraph.storage import store
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.scope import TenantScope, scoped

ORPHANED_FOR = timedelta(days=30)  # long, so that a database restored from an old backup can still be replaced
PICTURES_FOR = timedelta(days=7)

_PICTURES = "pages/"
_FOLDERS = (*PREFIXES, _PICTURES)
_AFTER = dict(pairwise(_FOLDERS))
_AT_ONCE = 500


def sweep() -> int:
    """Remove counts, notes of mails put off, idempotency keys, drafts, bulk sends, captured messages, refusals of
    mails about accounts and used one-time codes, when their time is over, and what no seal or timestamp shares any
    more, and have jobs sweep the store, unless those of the night before are still at it. Return the number of removed
    rows."""
    removed = counting.forget() + forget_put_off() + held_key.prune()
    removed += delete_unused_drafts() + delete_old_bulk_sends() + gateways.forget_captured() + forget_unused()
    removed += codes.forget_used() + RefusedAddress.objects.filter(at__lt=clock.now() - gateways.KEPT_FOR).delete()[0]
    if not is_live("sweep_store"):
        defer_last("sweep_store", folder=_FOLDERS[0], after="")
    return removed


def sweep_store(folder: str, after: str) -> int:
    """Remove objects of the folder that no row names (after 30 days) or, of page pictures, all (after 7 days; the
    signing page draws them again), from the first key beyond ``after``. Return how many. After 5 s another job goes on
    where this one was, or with the next folder. Safe to be killed, and to run beside everything else: an object is
    written at most minutes before the row that names it."""
    end, removed = time.monotonic() + RUN_SECONDS, 0
    before = clock.now() - (PICTURES_FOR if folder == _PICTURES else ORPHANED_FOR)
    listing = store.listing(folder, after)
    while looked_at := list(islice(listing, _AT_ONCE)):
        after = looked_at[-1][0]
        old = {key for key, _, written in looked_at if written < before}
        gone = old if folder == _PICTURES else old - named_among(folder, old)
        with objects_to_delete.may_delete() as may:
            if may:
                store.delete(*gone)
                removed += len(gone)
        if time.monotonic() > end:
            break
    else:
        folder, after = _AFTER.get(folder, ""), ""
    if folder:
        defer_last("sweep_store", folder=folder, after=after)
    return removed


_USES = (RequestDocument, DraftDocument, TemplateDocument)


def unused(rows: QuerySet[Document]) -> QuerySet[Document]:
    """Return the documents among these that no request, draft or template uses."""
    used = [Exists(table.objects.filter(document_id=OuterRef("pk"))) for table in _USES]
    return rows.filter(*(~each for each in used))


@transaction.atomic
def delete_document(scope: TenantScope, document_id: int, actor: Actor) -> None:
    """Delete the row, and have the file deleted; do nothing where there is no such document. Raise ``conflict`` where a
    request, a draft or a template uses the document."""
    mine = scoped(Document, scope).filter(pk=document_id)
    document = mine.select_for_update().first()
    if document is None:
        return
    if not unused(mine).exists():  # looked at under the lock: what uses it later finds no row
        raise DomainError("conflict", _("A request, draft or template uses this document, so it cannot be deleted."))
    facts = document.facts()
    objects_to_delete.note({document.object_key, document.shown_key})
    document.delete()
    note(scope.organization_id, actor, Action.DOCUMENT_DELETED, f"document {document_id}", before=facts)


UNUSED_FOR = timedelta(days=90)

_WINDOW = 5000  # ids that one statement looks at
_RUN_SECONDS = 15.0


def delete_unused_uploads(first: int = 1) -> int:
    """Delete the rows and objects of uploads older than :data:`UNUSED_FOR` and in no request, draft or template; return
    how many. Begin at the id ``first``. Safe to repeat and to be killed. Go through the table piece by piece, and after
    15 s leave the rest to another job, so that neither a statement nor a worker that is asked to stop takes long."""
    deleted, end = 0, time.monotonic() + _RUN_SECONDS
    highest = Document.objects.aggregate(highest=Max("pk"))["highest"] or 0
    for begin in range(first, highest + 1, _WINDOW):
        if time.monotonic() > end:
            defer("delete_unused_uploads", first=begin)
            break
        deleted += _delete(begin)
    return deleted


def _delete(first: int) -> int:
    old = Document.objects.filter(pk__gte=first, pk__lt=first + _WINDOW, created_at__lt=clock.now() - UNUSED_FOR)
    with transaction.atomic():
        locked = [row.pk for row in unused(old).select_for_update(skip_locked=True).only("pk")]
        gone = list(unused(Document.objects.filter(pk__in=locked)))  # looked at again: some were used before the lock
        Document.objects.filter(pk__in=[row.pk for row in gone]).delete()
        objects_to_delete.note({key for row in gone for key in (row.object_key, row.shown_key)})
    if gone:
        objects_to_delete.delete_noted()
    return len(gone)
