"""``/metrics`` counts the jobs of each kind by an index, however many there are.

The table is procrastinate's, so the index is made here by hand; one that was left half made is made anew.
"""

from typing import Any

from django.db import migrations

_NAME = "queue_jobs_by_kind"


def make(_apps: Any, schema_editor: Any) -> None:
    schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {_NAME}")
    schema_editor.execute(f"CREATE INDEX CONCURRENTLY {_NAME} ON procrastinate_jobs (status, task_name, queue_name)")


def drop(_apps: Any, schema_editor: Any) -> None:
    schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {_NAME}")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("queue", "0001_jobs_by_time")]

    operations = [migrations.RunPython(make, drop)]
