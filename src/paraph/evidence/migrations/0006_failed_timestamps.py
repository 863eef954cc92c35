"""Sealed files whose timestamps failed are counted without a look at all the others."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("evidence", "0005_storage")]

    operations = [
        AddIndexConcurrently(
            model,
            models.Index(
                fields=["timestamp_attempts"],
                condition=models.Q(timestamp_attempts__gt=0),
                name=f"{model}_attempts",
            ),
        )
        for model in ("sealeddocument", "prooffile")
    ]
