"""Delete documents that no request, draft or template uses: one that a member names, and all that are old."""

import time
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet
from django.utils.translation import gettext as _

from paraph.documents import objects_to_delete
from paraph.documents.models import Document
from paraph.drafts.models import DraftDocument
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.queue.jobs import defer
from paraph.request_templates.models import TemplateDocument
from paraph.signature_requests.models import RequestDocument
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.scope import TenantScope, scoped

_USES = (RequestDocument, DraftDocument, TemplateDocument)


def unused(rows: QuerySet[Document]) -> QuerySet[Document]:
    """Return those of the documents that stand in no request, draft or template."""
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
    """Delete the rows and objects of uploads that are older and in no request, draft or template; return how many.
    Begin at the id ``first``.

    Safe to repeat and to be killed. Looks at the table piece by piece, and after 15 s leaves the rest to another job,
    so that neither a statement nor a worker that is asked to stop takes long.
    """
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
