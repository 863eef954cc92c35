"""The activity log of an organization: who changed what, when, from where. A trigger refuses UPDATE, DELETE and
TRUNCATE."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy

from paraph.kernel import clock
from paraph.tenants.models import Organization


class ActorKind(models.TextChoices):
    MEMBER = "member", gettext_lazy("Member")
    OPERATOR = "operator", gettext_lazy("Operator")
    SERVICE = "service", gettext_lazy("Service")
    SIGNER = "signer", gettext_lazy("Signer")
    API = "api", gettext_lazy("Application")


class Activity(models.Model):
    """One entry. ``position`` counts from 1 within the organization; ``hash`` covers the fields and ``previous_hash``.

    ``actor`` is the e-mail address of a member, else empty; ``actor_id`` the id of their account, or of an
    application. ``before`` and ``after`` hold what changed, without secrets.
    """

    organization = models.ForeignKey(Organization, models.PROTECT, related_name="+")
    position = models.IntegerField()
    actor_kind = models.CharField(max_length=10, choices=ActorKind)
    actor_id = models.BigIntegerField(null=True)
    actor = models.CharField(max_length=320, blank=True)
    ip = models.CharField(max_length=45, blank=True)
    action = models.CharField(max_length=50)
    subject = models.CharField(max_length=200, blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now)
    previous_hash = models.BinaryField()
    hash = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "position"], name="activity_position")]
        indexes = [
            models.Index(fields=["organization", "created_at", "position"], name="activity_by_time"),
            models.Index(fields=["organization", "actor", "position"], name="activity_by_actor"),
            models.Index(fields=["organization", "action", "position"], name="activity_by_action"),
        ]
        ordering: ClassVar = ["position"]
