"""Deliveries that are tests, and lists of the deliveries of an application by time."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("webhooks", "0003_failing"), ("signature_requests", "0017_reminders")]

    operations = [
        migrations.AlterField(
            "delivery",
            "request",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="deliveries",
                to="signature_requests.signaturerequest",
            ),
        ),
        AddIndexConcurrently(
            "delivery", models.Index(fields=["application", "occurred_at", "id"], name="delivery_of_application")
        ),
        AddIndexConcurrently(
            "delivery",
            models.Index(
                fields=["application", "occurred_at", "id"],
                condition=~models.Q(status="delivered"),
                name="delivery_unfulfilled",
            ),
        ),
    ]
