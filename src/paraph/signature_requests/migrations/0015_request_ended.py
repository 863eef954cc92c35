"""An index of requests that are over and whose files are kept, by their end; made while the service works."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Coalesce


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("signature_requests", "0014_end_early")]

    operations = [
        AddIndexConcurrently(
            "signaturerequest",
            models.Index(
                "organization",
                "environment",
                Coalesce("completed_at", "ended_early_at", "expires_at"),
                condition=~models.Q(status="pending") & models.Q(files_deleted_at=None),
                name="request_ended",
            ),
        ),
    ]
