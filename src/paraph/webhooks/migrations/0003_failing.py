"""An index of an application's deliveries that fail; made while the service works."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("webhooks", "0002_trace")]

    operations = [
        AddIndexConcurrently(
            "delivery",
            models.Index(
                fields=["application", "id"],
                condition=models.Q(status="failed") | models.Q(failures__gt=0, status__in=["waiting", "sending"]),
                name="delivery_failing",
            ),
        ),
    ]
