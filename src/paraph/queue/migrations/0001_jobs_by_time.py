"""Due and failed jobs are found by an index, however many wait for their retry.

The table is procrastinate's, so the index is made here by hand; one that was left half made is made anew.
"""

from django.db import migrations

_DROP = "DROP INDEX CONCURRENTLY IF EXISTS queue_jobs_by_time"
_MAKE = "CREATE INDEX CONCURRENTLY queue_jobs_by_time ON procrastinate_jobs (status, scheduled_at)"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("procrastinate", "0041_post_retry_failed_job")]

    operations = [migrations.RunSQL([_DROP, _MAKE], _DROP)]
