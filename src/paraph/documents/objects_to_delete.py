"""Objects of the store that are to be deleted, noted in the transaction that deletes the rows which named them.

So the rows never name an object that is gone, and no crash keeps one that nobody names: whoever comes next deletes it.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from django.db.models import Min

from paraph.documents.models import ObjectToDelete
from paraph.storage import store

_AT_ONCE = 500


def note(keys: Iterable[str]) -> None:
    """Notes the objects. The caller deletes the rows that name them in the same transaction."""
    ObjectToDelete.objects.bulk_create([ObjectToDelete(object_key=key) for key in keys], ignore_conflicts=True)


def delete_noted(is_over: Callable[[], bool] = lambda: False) -> int:
    """Deletes the noted objects, until none is left or ``is_over``; returns how many.

    Safe to repeat and to run twice at once. Raises what the store raises; what it did not delete stays noted.
    """
    deleted = 0
    while not is_over() and (keys := list(ObjectToDelete.objects.values_list("object_key", flat=True)[:_AT_ONCE])):
        for key in keys:
            store.delete(key)
        ObjectToDelete.objects.filter(object_key__in=keys).delete()
        deleted += len(keys)
    return deleted


def waiting_since() -> datetime | None:
    """Returns since when the oldest noted object waits; None where none does."""
    oldest: datetime | None = ObjectToDelete.objects.aggregate(oldest=Min("since"))["oldest"]
    return oldest
