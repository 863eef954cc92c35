"""Deleting uploads that no request has used for 90 days."""

from collections.abc import Iterator
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet

from paraph.documents import objects_to_delete
from paraph.documents.models import Document
from paraph.kernel import clock
from paraph.signature_requests.models import RequestDocument

UNUSED_FOR = timedelta(days=90)

_WINDOW = 5000  # ids that one statement looks at


def delete_unused_uploads() -> int:
    """Deletes the rows and objects of uploads that are older and in no request; returns how many.

    Safe to repeat and to be killed. Looks at the table piece by piece, so that no statement takes long.
    """
    return sum(_delete(first) for first in _windows())


def _windows() -> Iterator[int]:
    highest = Document.objects.aggregate(highest=Max("pk"))["highest"] or 0
    yield from range(1, highest + 1, _WINDOW)


def _delete(first: int) -> int:
    old = Document.objects.filter(pk__gte=first, pk__lt=first + _WINDOW, created_at__lt=clock.now() - UNUSED_FOR)
    with transaction.atomic():
        locked = [row.pk for row in _unused(old).select_for_update(skip_locked=True).only("pk")]
        gone = list(_unused(Document.objects.filter(pk__in=locked)))  # used before the lock, or not at all any more
        Document.objects.filter(pk__in=[row.pk for row in gone]).delete()
        objects_to_delete.note({key for row in gone for key in (row.object_key, row.shown_key)})
    if gone:
        objects_to_delete.delete_noted()
    return len(gone)


def _unused(rows: QuerySet[Document]) -> QuerySet[Document]:
    return rows.filter(~Exists(RequestDocument.objects.filter(document_id=OuterRef("pk"))))
