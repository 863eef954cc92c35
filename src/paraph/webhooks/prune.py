"""Deleting deliveries that ended long ago, with their attempts, what was caught and has become too much, and events
that are no longer listed."""

from datetime import datetime, timedelta

from django.db.models import QuerySet

from paraph.tenants.models import Application
from paraph.webhooks.event_log import DAYS_KEPT
from paraph.webhooks.models import Delivery, DeliveryStatus, Event, EventStream

CAUGHT_KEPT = 200  # by application
_BATCH = 1000


def prune(retention_days: int, now: datetime) -> int:
    """Delete deliveries that ended more than ``retention_days`` ago, and of what was caught all but the newest
    :data:`CAUGHT_KEPT` of each application, in batches with a transaction each; return how many."""
    pruned = _delete(Delivery.objects.filter(finished_at__lt=now - timedelta(days=retention_days)), "finished_at")
    caught = Delivery.objects.filter(status=DeliveryStatus.CAUGHT)
    for application in Application.objects.filter(pk__in=caught.values("application")):
        mine = caught.filter(application=application)
        newest_beyond = mine.order_by("-pk").values_list("pk", flat=True)[CAUGHT_KEPT : CAUGHT_KEPT + 1]
        for last in list(newest_beyond):
            pruned += _delete(mine.filter(pk__lte=last), "pk")
    return pruned


def _delete(chosen: QuerySet[Delivery], order: str) -> int:
    deleted = 0
    while batch := list(chosen.order_by(order).values_list("pk", flat=True)[:_BATCH]):
        deleted += Delivery.objects.filter(pk__in=batch).delete()[1].get("webhooks.Delivery", 0)
    return deleted


def prune_events(now: datetime) -> int:
    """Delete the events that were published more than :data:`DAYS_KEPT` days ago, in batches with a transaction each;
    return how many. Of each stream the oldest go first, so that a reader can tell whether it has missed any."""
    pruned = 0
    for stream in EventStream.objects.order_by("organization_id", "environment"):
        mine = Event.objects.filter(organization=stream.organization_id, environment=stream.environment)
        ordered = mine.filter(position__isnull=False).order_by("position").values_list("pk", "published_at")
        while oldest := list(ordered[:_BATCH]):
            chosen = [pk for pk, moment in oldest if moment and moment < now - timedelta(days=DAYS_KEPT)]
            pruned += Event.objects.filter(pk__in=chosen).delete()[0]
            if len(chosen) < _BATCH:
                break
    return pruned
