"""Deliveries that are caught."""

from django.db import migrations, models


class Migration(migrations.Migration):
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
    ]
