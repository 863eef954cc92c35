"""Looking after the queue itself: the jobs of workers that died, and those that failed long ago."""

from asgiref.sync import async_to_sync
from django.db import close_old_connections, connection, transaction
from procrastinate.contrib.django import app

from paraph.kernel import clock

DEAD_AFTER_SECONDS = 10
_KEEP_FAILED_HOURS = 90 * 24
_LOCK = 0x50415242  # any number, the same in every process


def rescue_jobs() -> int:
    """Puts the jobs of workers without a heartbeat for 10 s back into the queue; returns how many.

    One rescuer at a time: of two, the slower would put back a job that another worker has begun anew. A worker
    that was only slow may still be at its job, which is why every job is safe to repeat.
    """
    close_old_connections()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
        if cursor.fetchone() != (True,):
            return 0
        find = async_to_sync(app.job_manager.get_stalled_jobs)
        stalled = list(find(seconds_since_heartbeat=DEAD_AFTER_SECONDS))
        for job in stalled:
            assert job.id is not None
            app.job_manager.retry_job_by_id(job_id=job.id, retry_at=clock.now())
        return len(stalled)


def forget_old_jobs() -> None:
    """Deletes the records of jobs that failed for good 90 days ago; those of jobs that succeeded go at once."""
    close_old_connections()
    forget = async_to_sync(app.job_manager.delete_old_jobs)
    forget(nb_hours=_KEEP_FAILED_HOURS, include_failed=True, include_cancelled=True, include_aborted=True)
