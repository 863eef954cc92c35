"""Objects of the store that are to be deleted, noted in the transaction that deletes the rows which named them.

So no row ever names an object that is gone, and no crash leaves one that no row names: the next run deletes it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Min, QuerySet

from paraph.documents.models import ObjectToDelete
from paraph.kernel.errors import DomainError
from paraph.storage import store

_AT_ONCE = 100
_ADVISORY_LOCK = 0x50415242  # "PARB"; the lock of migrations has the number before it


def note(keys: Iterable[str]) -> None:
    """Note the objects. The caller deletes the rows that name them in the same transaction."""
    ObjectToDelete.objects.bulk_create([ObjectToDelete(object_key=key) for key in keys], ignore_conflicts=True)


def delete_noted(is_over: Callable[[], bool] = lambda: False) -> int:
    """Delete the noted objects, until none is left or ``is_over``; return how many. Safe to repeat and to run several
    times at once, each with objects of its own. Raise what the store raises; what it did not delete stays noted."""
    deleted, some = 0, -1
    while some and not is_over():
        some = _delete(ObjectToDelete.objects.order_by("since"))
        deleted += some
    return deleted


def delete_those(keys: Collection[str]) -> None:
    """Delete the noted objects with these keys, except those that another process is about to delete."""
    while _delete(ObjectToDelete.objects.filter(object_key__in=keys)):
        pass


def _delete(noted: QuerySet[ObjectToDelete]) -> int:
    """Delete the first of the noted objects, or none while objects are :func:`kept`; return how many."""
    with may_delete() as may:
        first = noted.select_for_update(skip_locked=True).values_list("object_key", flat=True)[:_AT_ONCE]
        keys = list(first) if may else []
        if keys:
            store.delete(*keys)
            ObjectToDelete.objects.filter(object_key__in=keys).delete()
    return len(keys)


@contextmanager
def kept() -> Iterator[None]:
    """Keep every object in its place while the block runs, for a caller that reads the rows first and the objects
    later. Wait for deletions that are under way. Raise ``DomainError("database", …)`` at the end if the connection to
    the database, and with it the lock, was lost meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_ADVISORY_LOCK])
        yield
        cursor.execute("SELECT pg_advisory_unlock(%s)", [_ADVISORY_LOCK])
        if not cursor.fetchone()[0]:
            raise DomainError("database", "The connection to the database broke meanwhile: objects may be gone.")


@contextmanager
def may_delete() -> Iterator[bool]:
    """Yield False while objects are :func:`kept`; where it yields True, nobody begins to keep them within the block."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock_shared(%s)", [_ADVISORY_LOCK])
        yield bool(cursor.fetchone()[0])


def noted_among(keys: Collection[str]) -> set[str]:
    return set(ObjectToDelete.objects.filter(object_key__in=keys).values_list("object_key", flat=True))


def waiting_since() -> datetime | None:
    """Return since when the oldest noted object waits; None where none does."""
    oldest: datetime | None = ObjectToDelete.objects.aggregate(oldest=Min("since"))["oldest"]
    return oldest
