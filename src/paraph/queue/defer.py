"""Adding a job to the queue, in the transaction of the work that it follows."""

from collections.abc import Mapping

from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.database.rows import insert
from paraph.queue.job_logging import trace_argument
from paraph.queue.queues import RANKS


def defer(task: str, **arguments: int | str) -> None:
    """Add a job for the task of :mod:`paraph.flow.jobs` with this name.

    The task is named, not imported, because its verb defers further jobs: modules that import each other would be a
    cycle. Inside a transaction the job exists only if the transaction commits. The id of the current HTTP request goes
    along. Raise ``procrastinate.exceptions.TaskNotFound`` for an unknown name.
    """
    insert([_job(task, 0, arguments)])


def job(task: str, *, rank: int = 0, **arguments: int | str) -> ProcrastinateJob:
    """Return the row of a job, to be inserted in one statement with the work that it follows; otherwise as
    :func:`defer`. ``rank``: of jobs that wait, those of a lower one are begun first. Not for tasks with a lock of the
    queue: that there is such a job already would be told by the database alone."""
    return _job(task, rank, arguments)


def _job(task: str, rank: int, arguments: Mapping[str, int | str]) -> ProcrastinateJob:
    named = app.configure_task(f"paraph.flow.jobs.{task}", allow_unknown=False)
    made = named.make_new_job(**arguments, **trace_argument())
    return ProcrastinateJob(
        queue_name=made.queue,
        task_name=made.task_name,
        priority=-min(rank, RANKS - 1),
        lock=made.lock,
        queueing_lock=made.queueing_lock,
        args=made.task_kwargs,
        scheduled_at=made.scheduled_at,
        status="todo",
        attempts=0,
        abort_requested=False,
    )
