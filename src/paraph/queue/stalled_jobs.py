"""Putting jobs of dead workers back into the queue, and deleting the records of jobs that failed long ago."""

import time
from collections.abc import Callable, Iterable
from datetime import timedelta

from asgiref.sync import async_to_sync
from django.db import close_old_connections, connection, transaction
from django.db.models.functions import Now
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob, ProcrastinateWorker
from procrastinate.jobs import Job, Status

from paraph.kernel import clock
from paraph.kernel.machine import SERVICE_BEGAN
from paraph.queue.jobs import QUEUES, RANKS

DEAD_AFTER_SECONDS = 10
_MAX_DEATHS = 3
_INTERVAL = timedelta(seconds=3)
_KEEP_FAILED_HOURS = 90 * 24
_LOCK = 0x50415242  # any number, the same in every process
_SUSPECT_AFTER_SECONDS = 1.0
_STARTED = """
    SELECT job.id, extract(epoch FROM now() - max(event.at))::float8,
        extract(epoch FROM worker.last_heartbeat - max(event.at))::float8
    FROM procrastinate_jobs job JOIN procrastinate_workers worker ON worker.id = job.worker_id
        JOIN procrastinate_events event ON event.job_id = job.id AND event.type = 'started'
    WHERE job.id = ANY(%s) GROUP BY job.id, worker.last_heartbeat
"""

GiveUp = Callable[[ProcrastinateJob, Exception], None]
"""Called with a job that is not tried again, and the reason."""


class WorkerDied(Exception):
    """Several workers died while they ran the job."""


def rescue_jobs(give_up: GiveUp) -> int:
    """Put the jobs of workers without a heartbeat for 10 s back into the queue, but give up jobs during which a worker
    died for the third time. Return the number of both together. An advisory lock admits one process at a time: the
    slower of two would put back a job that another worker has started since. A worker that was only slow may still run
    its job, which is why every job is safe to repeat. While no worker is dead, this is one statement."""
    close_old_connections()
    if not _stalled():
        return 0
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
        if cursor.fetchone() != (True,):
            return 0
        stalled = _stalled()
        _rescue(stalled, give_up)
        return len(stalled)


def _stalled() -> list[Job]:
    find = async_to_sync(app.job_manager.get_stalled_jobs)
    return list(find(seconds_since_heartbeat=DEAD_AFTER_SECONDS))


def _rescue(stalled: Iterable[Job], give_up: GiveUp) -> None:
    """Count in a job's priority the workers that it may have killed: suspected jobs run after all others, and those
    suspected more than once run at intervals, not at the same time."""
    suspected, delay = _suspected({job.id for job in stalled if job.id is not None}), timedelta()
    for job in stalled:
        assert job.id is not None
        deaths, rank = divmod(-job.priority, RANKS)
        deaths += job.id in suspected
        if deaths >= _MAX_DEATHS:
            async_to_sync(app.job_manager.finish_job_by_id_async)(job.id, Status.FAILED, delete_job=False)
            give_up(
                ProcrastinateJob.objects.get(pk=job.id),
                WorkerDied(f"A worker died {deaths} times while it was at this job."),
            )
            continue
        app.job_manager.retry_job_by_id(job_id=job.id, retry_at=clock.now() + delay, priority=-(deaths * RANKS + rank))
        delay += _INTERVAL * (deaths > 1)


def _suspected(jobs: set[int]) -> set[int]:
    """Return the jobs that may have killed their worker. Such a job had run for a while at the worker's last heartbeat:
    a worker that somebody kills has rarely run one job for long. And the job started after this service did: older jobs
    ran when the whole service ended. Durations are compared, not times, because the clocks of two machines differ."""
    with connection.cursor() as cursor:
        cursor.execute(_STARTED, [list(jobs)])
        service_age = time.monotonic() - SERVICE_BEGAN
        return {
            job for job, age, ran_for in cursor.fetchall() if age < service_age and ran_for >= _SUSPECT_AFTER_SECONDS
        }


def living_workers() -> int:
    """Return how many worker processes are alive, each of which registers once for each queue."""
    since = Now() - timedelta(seconds=DEAD_AFTER_SECONDS)
    return ProcrastinateWorker.objects.filter(last_heartbeat__gt=since).count() // len(QUEUES)


def forget_old_jobs() -> None:
    """Delete the records of jobs that failed for good over 90 days ago; workers delete successful jobs at once."""
    close_old_connections()
    forget = async_to_sync(app.job_manager.delete_old_jobs)
    forget(nb_hours=_KEEP_FAILED_HOURS, include_failed=True, include_cancelled=True, include_aborted=True)
