"""What many seals and timestamps share, such as certificates and their statuses, kept once."""

import base64
from collections.abc import Iterable, Mapping

from django.db import transaction
from django.db.models import Exists, OuterRef

from paraph.evidence.models import KeptTimestamp, ProofFile, SealedDocument, SharedContent

_UNUSED = SharedContent.objects.filter(
    *(~Exists(uses.objects.filter(shared=OuterRef("pk"))) for uses in (SealedDocument, ProofFile, KeptTimestamp))
)


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
    found = _UNUSED.select_for_update(skip_locked=True).values_list("pk", flat=True)
    return _UNUSED.filter(pk__in=list(found)).delete()[0]
