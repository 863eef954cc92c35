"""Deleting deliveries that ended long ago, with their attempts."""

from datetime import datetime, timedelta

from paraph.webhooks.models import Delivery

_BATCH = 1000


def prune(retention_days: int, now: datetime) -> int:
    """Deletes deliveries that were delivered or failed more than ``retention_days`` ago, in batches with a transaction
    each; returns how many."""
    old = Delivery.objects.filter(finished_at__lt=now - timedelta(days=retention_days)).order_by("finished_at")
    pruned = 0
    while batch := list(old.values_list("pk", flat=True)[:_BATCH]):
        pruned += Delivery.objects.filter(pk__in=batch).delete()[1].get("webhooks.Delivery", 0)
    return pruned
