"""What many seals and timestamps share, such as certificates and their statuses, kept once."""

import base64
from collections.abc import Iterable, Iterator, Mapping

from django.db import transaction
from django.db.models import Min

from paraph.evidence.models import KeptTimestamp, ProofFile, SealedDocument, SharedContent


def as_text(lists: Mapping[str, Iterable[bytes]]) -> dict[str, list[str]]:
    """Return lists of DER as they are kept, in base64."""
    return {name: [base64.b64encode(item).decode() for item in items] for name, items in lists.items()}


def as_bytes(lists: Mapping[str, Iterable[str]]) -> dict[str, tuple[bytes, ...]]:
    """Reverse :func:`as_text`."""
    return {name: tuple(map(base64.b64decode, items)) for name, items in lists.items()}


@transaction.atomic
def forget_unused() -> int:
    """Delete what nothing refers to any more; return how many rows. What a seal holds meanwhile is left to the next
    time, and what one took since it was found stays: the deletion looks again."""
    unused = SharedContent.objects.exclude(pk__in=list(_used())).select_for_update(skip_locked=True)
    gone = set(unused.values_list("pk", flat=True)).difference(_used())
    return SharedContent.objects.filter(pk__in=gone).delete()[0]


def _used() -> Iterator[int]:
    """Yield what the tables refer to, each by a look into an index: a join may read whole tables for what few use."""
    for model in (SealedDocument, ProofFile, KeptTimestamp):
        number = 0
        while number := model.objects.filter(shared__gt=number).aggregate(next=Min("shared"))["next"] or 0:
            yield number
