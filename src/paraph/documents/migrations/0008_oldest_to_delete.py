"""The object that waits longest for its deletion is found by an index, however many wait."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("documents", "0007_file_deleted")]

    operations = [AddIndexConcurrently("objecttodelete", models.Index(fields=["since"], name="object_to_delete_since"))]
