"""What was created under an idempotency key."""

from datetime import timedelta

from django.db import models

from paraph.tenants.models import Environment, Organization

KEPT = timedelta(hours=24)


class IdempotencyKey(models.Model):
    """A key under which something was created, inserted in the transaction that created it. The key is the caller's
    own choice and may be telling, so its SHA-256 is stored.

    ``path``: of the call, after ``/api/v1/``. ``content_hash``: SHA-256 of what the call asked for.
    """

    organization = models.ForeignKey(Organization, models.CASCADE, related_name="+", db_index=False)
    environment = models.CharField(max_length=10, choices=Environment)
    path = models.CharField(max_length=100)
    key_hash = models.BinaryField(max_length=32)
    content_hash = models.BinaryField(max_length=32)
    resource_id = models.BigIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("organization", "environment", "path", "key_hash"), name="idempotency_one_of_each_key"
            ),
        )
