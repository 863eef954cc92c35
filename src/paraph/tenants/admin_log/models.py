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
    """One entry. ``id`` rises with each: it is their order.

    ``actor`` is the e-mail address of a member, else empty; ``actor_id`` the id of their account, or of an
    application. ``before`` and ``after`` hold what changed, without secrets.
    """

    organization = models.ForeignKey(Organization, models.PROTECT, related_name="+")
    actor_kind = models.CharField(max_length=10, choices=ActorKind)
    actor_id = models.BigIntegerField(null=True)
    actor = models.CharField(max_length=320, blank=True)
    ip = models.CharField(max_length=45, blank=True)
    action = models.CharField(max_length=50)
    subject = models.CharField(max_length=200, blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "id"], name="activity_in_order"),
            models.Index(fields=["organization", "created_at", "id"], name="activity_by_time"),
            models.Index(fields=["organization", "actor", "id"], name="activity_by_actor"),
            models.Index(fields=["organization", "action", "id"], name="activity_by_action"),
        ]
        ordering: ClassVar = ["id"]
