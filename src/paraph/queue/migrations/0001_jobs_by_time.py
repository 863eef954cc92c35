"""Due and failed jobs are found by an index, however many wait for their retry.

The table is procrastinate's, so the index is made here by hand; one that was left half made is made anew.
"""

from typing import Any

from django.db import migrations

_DROP = "DROP INDEX CONCURRENTLY IF EXISTS queue_jobs_by_time"
_MAKE = "CREATE INDEX CONCURRENTLY queue_jobs_by_time ON procrastinate_jobs (status, scheduled_at)"


def make(_apps: Any, schema_editor: Any) -> None:
    schema_editor.execute(_DROP)
    schema_editor.execute(_MAKE)


def drop(_apps: Any, schema_editor: Any) -> None:
    schema_editor.execute(_DROP)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("procrastinate", "0041_post_retry_failed_job")]

    operations = [migrations.RunPython(make, drop)]
