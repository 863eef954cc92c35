"""Events as the API lists them, their deliveries, and attempts at these. The table of deliveries is also their queue
(docs/decisions/queues.md)."""

import uuid

from django.db import models
from django.utils.translation import gettext_lazy

from paraph.audit_trail.models import Entry
from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Application, Environment, Organization


class Event(models.Model):
    """A journal entry of a type with a webhook, as the API lists it (docs/decisions/events.md). ``payload`` is the body
    as of the event, without presigned URLs.

    ``position`` counts from 1 within organization and environment, in the order of commits and without a gap. A trigger
    gives it, with ``published_at``, at the end of the transaction that records the event, and to one that is ``held``
    when that is released.
    """

    entry = models.OneToOneField(Entry, models.PROTECT, primary_key=True, related_name="+")
    organization = models.ForeignKey(Organization, models.PROTECT, related_name="+", db_index=False)
    environment = models.CharField(max_length=10, choices=Environment)
    request = models.ForeignKey(SignatureRequest, models.PROTECT, related_name="+", db_index=False)
    event_type = models.CharField(max_length=30)
    payload = models.TextField()
    held = models.BooleanField(default=False)
    position = models.BigIntegerField(null=True)
    published_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["organization", "environment", "position"],
                condition=models.Q(position__isnull=False),
                name="event_position",
            ),
        )
        indexes = (
            models.Index(
                fields=["organization", "environment", "event_type", "position"],
                condition=models.Q(position__isnull=False),
                name="event_of_type",
            ),
            models.Index(fields=["request", "position"], name="event_of_request"),
        )


class EventStream(models.Model):
    """The newest position of the events of a tenant, and when it was given. The trigger of :class:`Event` keeps it;
    nothing else writes it."""

    pk = models.CompositePrimaryKey("organization_id", "environment")
    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+", db_index=False)
    environment = models.CharField(max_length=10, choices=Environment)
    position = models.BigIntegerField()
    published_at = models.DateTimeField()


class Destination(models.TextChoices):
    """Where a delivery goes. ``catcher``: nothing is sent; members see in the dashboard what a webhook URL would have
    been sent."""

    APPLICATION = "application"
    CALLBACK = "callback"
    CATCHER = "catcher"


class DeliveryStatus(models.TextChoices):
    """The states of a delivery. ``held``: recorded, while the sealed PDFs that it links to do not exist yet.
    ``caught``: where a delivery to the catcher ends. What is being sent is ``waiting``, too: it is claimed."""

    HELD = "held", gettext_lazy("On hold")
    WAITING = "waiting", gettext_lazy("Waiting")
    DELIVERED = "delivered", gettext_lazy("Delivered")
    FAILED = "failed", gettext_lazy("Failed")
    CAUGHT = "caught", gettext_lazy("Kept, not sent")


FINISHED = (DeliveryStatus.DELIVERED, DeliveryStatus.FAILED)


class Delivery(models.Model):
    """One event on its way to one URL. ``payload`` is the body as of the event, without presigned URLs. A test has no
    ``request`` and no ``entry``, and what the catcher gets has no ``url``.

    ``endpoint`` names what fails together: the application and the URL's scheme, host and port. ``failures`` counts
    since the delivery was recorded or replayed. ``claimed_at`` is set while a worker sends it; as no index has it, a
    claim leaves all indexes as they are. ``open_attempt`` is the attempt without a known outcome; after a crash
    it is made again under the same id. ``trace`` is the id of the HTTP request that the event came with, for the log.
    """

    application = models.ForeignKey(Application, models.PROTECT, related_name="+", db_index=False)
    request = models.ForeignKey(SignatureRequest, models.PROTECT, null=True, related_name="deliveries")
    entry = models.ForeignKey(
        Entry, models.DO_NOTHING, null=True, related_name="+", db_index=False, db_constraint=False
    )
    destination = models.CharField(max_length=11, choices=Destination)
    url = models.CharField(max_length=2000)
    endpoint = models.CharField(max_length=300)
    event_type = models.CharField(max_length=30)
    occurred_at = models.DateTimeField()
    payload = models.TextField()
    status = models.CharField(max_length=9, choices=DeliveryStatus, default=DeliveryStatus.WAITING)
    failures = models.SmallIntegerField(default=0)
    due_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True)
    open_attempt = models.UUIDField(null=True)
    finished_at = models.DateTimeField(null=True)
    trace = models.CharField(max_length=32, blank=True, db_default="")

    class Meta:
        indexes = [
            models.Index(
                fields=["endpoint", "due_at", "id"], condition=models.Q(status="waiting"), name="delivery_live"
            ),
            models.Index(fields=["due_at"], condition=models.Q(status="waiting"), name="delivery_due"),
            models.Index(
                fields=["endpoint"], condition=models.Q(status="waiting", failures__gt=0), name="delivery_troubled"
            ),
            models.Index(
                fields=["finished_at"], condition=models.Q(finished_at__isnull=False), name="delivery_finished"
            ),
            models.Index(fields=["application", "occurred_at", "id"], name="delivery_of_application"),
            models.Index(
                fields=["application", "occurred_at", "id"],
                condition=~models.Q(status="delivered"),
                name="delivery_unfulfilled",
            ),
            models.Index(
                fields=["application", "id"],
                condition=models.Q(status="failed") | models.Q(status="waiting", failures__gt=0),
                name="delivery_failing",
            ),
            models.Index(fields=["application", "id"], condition=models.Q(status="caught"), name="delivery_caught"),
        ]


class Attempt(models.Model):
    """One attempt at a delivery. ``id`` is the header ``X-Service-Delivery``; ``status_code`` or ``error`` is the
    outcome, and neither is set while the attempt is under way; ``response`` is the first 2 KiB of the answer."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    delivery = models.ForeignKey(Delivery, models.CASCADE, related_name="attempts")
    started_at = models.DateTimeField(default=clock.now)
    duration_ms = models.IntegerField(null=True)
    status_code = models.SmallIntegerField(null=True)
    response = models.TextField(blank=True)
    error = models.CharField(max_length=500, blank=True)
