"""Looking after the queue itself: the jobs of workers that died, and those that failed long ago."""

import time
from collections.abc import Iterable
from datetime import timedelta

from asgiref.sync import async_to_sync
from django.db import close_old_connections, connection, transaction
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.jobs import Job, Status

from paraph.kernel import clock
from paraph.kernel.parent import SERVICE_BEGAN
from paraph.queue.giving_up import give_up

DEAD_AFTER_SECONDS = 10
_MOST_DEATHS = 3
_APART = timedelta(seconds=3)
_KEEP_FAILED_HOURS = 90 * 24
_LOCK = 0x50415242  # any number, the same in every process
_SURELY_AT_IT = 1.0  # seconds
_BEGUN = """
    SELECT job.id, extract(epoch FROM now() - max(event.at))::float8,
        extract(epoch FROM worker.last_heartbeat - max(event.at))::float8
    FROM procrastinate_jobs job JOIN procrastinate_workers worker ON worker.id = job.worker_id
        JOIN procrastinate_events event ON event.job_id = job.id AND event.type = 'started'
    WHERE job.id = ANY(%s) GROUP BY job.id, worker.last_heartbeat
"""


class WorkerDied(Exception):
    """A worker died at the job, and another one, and another one."""


def rescue_jobs() -> int:
    """Puts the jobs of workers without a heartbeat for 10 s back into the queue, and gives up those over which a worker
    died for the third time; returns how many there were.

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
        if stalled:
            _rescue(stalled)
        return len(stalled)


def _rescue(stalled: Iterable[Job]) -> None:
    """The priority of a job, 0 for all when they are asked for, keeps how many workers died over it: who is suspected
    comes after everybody else, and those who are suspected more than once, one after the other."""
    suspected, after = _suspected({job.id for job in stalled if job.id is not None}), timedelta()
    for job in stalled:
        assert job.id is not None
        deaths = -min(job.priority, 0) + (job.id in suspected)
        if deaths >= _MOST_DEATHS:
            async_to_sync(app.job_manager.finish_job_by_id_async)(job.id, Status.FAILED, delete_job=False)
            give_up(
                ProcrastinateJob.objects.get(pk=job.id),
                WorkerDied(f"A worker died {deaths} times while it was at this job."),
            )
            continue
        app.job_manager.retry_job_by_id(job_id=job.id, retry_at=clock.now() + after, priority=-deaths)
        after += _APART * (deaths > 1)


def _suspected(jobs: set[int]) -> set[int]:
    """Those that a worker was at for a while before it died, as its heartbeats tell: a worker that somebody kills is
    rarely at the same job for long, one that a job kills is. And of these the ones that the service has outlived: the
    others were at hand when all of it was ended, by an operator or with its machine. Told by how long ago things were,
    so that the clocks of two machines need not agree."""
    with connection.cursor() as cursor:
        cursor.execute(_BEGUN, [list(jobs)])
        lived = time.monotonic() - SERVICE_BEGAN
        return {job for job, ago, at_it in cursor.fetchall() if ago < lived and at_it >= _SURELY_AT_IT}


def forget_old_jobs() -> None:
    """Deletes the records of jobs that failed for good 90 days ago; those of jobs that succeeded go at once."""
    close_old_connections()
    forget = async_to_sync(app.job_manager.delete_old_jobs)
    forget(nb_hours=_KEEP_FAILED_HOURS, include_failed=True, include_cancelled=True, include_aborted=True)
