"""Indexes of what an organization should look at: open requests by their end, completed ones that are not sealed, and
inquiries by time; made while the service works."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("signature_requests", "0019_earlier_search_terms")]

    operations = [
        AddIndexConcurrently(
            "signaturerequest",
            models.Index(
                fields=["organization", "environment", "expires_at"],
                condition=models.Q(status="pending"),
                name="request_expiring",
            ),
        ),
        AddIndexConcurrently(
            "signaturerequest",
            models.Index(
                fields=["organization", "environment", "completed_at"],
                condition=models.Q(status="completed", finalized=False),
                name="request_unsealed",
            ),
        ),
        AddIndexConcurrently("inquiry", models.Index(fields=["asked_at"], name="inquiry_by_time")),
    ]
