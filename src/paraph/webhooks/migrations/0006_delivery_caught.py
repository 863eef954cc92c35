"""An index of the deliveries that are caught, made while the service works."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("webhooks", "0005_caught")]

    operations = [
        AddIndexConcurrently(
            "delivery",
            models.Index(fields=["application", "id"], condition=models.Q(status="caught"), name="delivery_caught"),
        ),
    ]
