"""The state of the job queue."""

from dataclasses import dataclass

from django.db import connection

from paraph.queue.queues import LANES
from paraph.queue.stalled_jobs import DEAD_AFTER_SECONDS

_OLDEST = """
    SELECT least(
        (SELECT min(scheduled_at) FROM procrastinate_jobs WHERE status = 'todo' AND scheduled_at <= now()),
        (SELECT min(at) FROM procrastinate_events WHERE type = 'deferred' AND job_id = (
            SELECT min(id) FROM procrastinate_jobs WHERE status = 'todo' AND scheduled_at IS NULL))
    )
"""
_STATE = f"""
    SELECT extract(epoch FROM now() - ({_OLDEST}))::float8,
        (SELECT count(*) FROM procrastinate_jobs
         WHERE status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now())),
        (SELECT count(*) FROM procrastinate_jobs WHERE status = 'failed'),
        (SELECT ceil(count(*) / {len(LANES)}.0)::int FROM procrastinate_workers
         WHERE last_heartbeat > now() - interval '{DEAD_AFTER_SECONDS} s')
"""  # noqa: S608  built from constants


@dataclass(frozen=True)
class QueueState:
    """``oldest_seconds``: for how long the oldest due job has been due, 0 when none is. A job that waits for the time
    of its retry is not due. ``workers``: live processes, each of which registers once for each lane."""

    oldest_seconds: float
    due: int
    failed: int
    workers: int


def queue_state() -> QueueState:
    """Read the state in one statement, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(_STATE)
        oldest, due, failed, workers = cursor.fetchone()
    return QueueState(max(oldest or 0.0, 0.0), due, failed, workers)
