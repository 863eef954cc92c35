"""Due and failed jobs are found by an index, however many wait for their retry, and ``/metrics`` counts the jobs of each
kind by one. Without the one of locks, a worker that looks for a job reads all that wait: the look at other jobs with the
same lock seems costly, and reading in the order of the answer seems to need few of them.

The table is procrastinate's, so its indexes are made here by hand.
"""

from django.db import migrations

_INDEXES = """
CREATE INDEX queue_jobs_by_time ON procrastinate_jobs (status, scheduled_at);
CREATE INDEX queue_jobs_by_lock ON procrastinate_jobs (lock) WHERE status IN ('todo', 'doing');
CREATE INDEX queue_jobs_by_kind ON procrastinate_jobs (status, task_name, queue_name);
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = [("procrastinate", "0041_post_retry_failed_job")]
    operations = [migrations.RunSQL(_INDEXES)]
