"""Deliveries that are caught, and an index of them; made while the service works."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("webhooks", "0004_of_application")]

    operations = [
        migrations.AlterField(
            "delivery",
            "destination",
            models.CharField(
                choices=[("application", "Application"), ("callback", "Callback"), ("catcher", "Catcher")],
                max_length=11,
            ),
        ),
        migrations.AlterField(
            "delivery",
            "status",
            models.CharField(
                choices=[
                    ("held", "Held"),
                    ("waiting", "Waiting"),
                    ("sending", "Sending"),
                    ("delivered", "Delivered"),
                    ("failed", "Failed"),
                    ("caught", "Caught"),
                ],
                default="waiting",
                max_length=9,
            ),
        ),
        AddIndexConcurrently(
            "delivery",
            models.Index(fields=["application", "id"], condition=models.Q(status="caught"), name="delivery_caught"),
        ),
    ]
