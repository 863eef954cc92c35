"""Due and failed jobs are found by an index, however many wait for their retry.

The table is procrastinate's, so the indexes are made here by hand; one that was left half made is made anew. Without
the one of locks, a worker that looks for a job reads all that wait: the look at other jobs with the same lock seems
costly, and reading in the order of the answer seems to need few of them.
"""

from typing import Any

from django.db import migrations

_INDEXES = {
    "queue_jobs_by_time": "(status, scheduled_at)",
    "queue_jobs_by_lock": "(lock) WHERE status IN ('todo', 'doing')",
}


def make(_apps: Any, schema_editor: Any) -> None:
    for name, of in _INDEXES.items():
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        schema_editor.execute(f"CREATE INDEX CONCURRENTLY {name} ON procrastinate_jobs {of}")


def drop(_apps: Any, schema_editor: Any) -> None:
    for name in _INDEXES:
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("procrastinate", "0041_post_retry_failed_job")]

    operations = [migrations.RunPython(make, drop)]
