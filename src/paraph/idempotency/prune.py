"""Forgetting idempotency keys after a day."""

from paraph.idempotency.models import KEPT, IdempotencyKey
from paraph.kernel import clock

_BATCH = 1000


def prune() -> int:
    """Delete the keys that are no longer kept, in batches with a transaction each; return how many. Ids rise with
    time, so the oldest are found without an index of times."""
    pruned, before = 0, clock.now() - KEPT
    while oldest := list(IdempotencyKey.objects.order_by("pk").values_list("pk", "created_at")[:_BATCH]):
        chosen = [pk for pk, created_at in oldest if created_at < before]
        pruned += IdempotencyKey.objects.filter(pk__in=chosen).delete()[0]
        if len(chosen) < _BATCH:
            break
    return pruned
