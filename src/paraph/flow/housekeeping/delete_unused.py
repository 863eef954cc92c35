"""Deleting uploads that no request, draft or template has used for 90 days."""

import time
from datetime import timedelta

from django.db import transaction
from django.db.models import Max

from paraph.documents import objects_to_delete
from paraph.documents.models import Document
from paraph.flow.housekeeping.unused import unused
from paraph.kernel import clock
from paraph.queue.defer import defer

UNUSED_FOR = timedelta(days=90)

_WINDOW = 5000  # ids that one statement looks at
_RUN_SECONDS = 15.0


def delete_unused_uploads(first: int = 1) -> int:
    """Delete the rows and objects of uploads that are older and in no request, draft or template; return how many.
    Begins at the id ``first``.

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
        gone = list(unused(Document.objects.filter(pk__in=locked)))  # used before the lock, or not at all any more
        Document.objects.filter(pk__in=[row.pk for row in gone]).delete()
        objects_to_delete.note({key for row in gone for key in (row.object_key, row.shown_key)})
    if gone:
        objects_to_delete.delete_noted()
    return len(gone)
