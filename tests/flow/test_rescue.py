"""Jobs whose worker died go back into the queue, once."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from procrastinate.contrib.django import app

from paraph.flow.rescue import DEAD_AFTER_SECONDS, rescue_jobs

pytestmark = pytest.mark.django_db(transaction=True)


def row(query: str, *values: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchone() if cursor.description else None


def job_of_a_worker_last_seen(seconds_ago: float) -> int:
    job = app.configure_task("paraph.flow.jobs.expire").defer(request_id=1)
    (worker,) = row(
        "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - %s) RETURNING id",
        timedelta(seconds=seconds_ago),
    )
    row("UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s WHERE id = %s", worker, job)
    return job


def status(job: int) -> tuple[str, int]:
    found = row("SELECT status, attempts FROM procrastinate_jobs WHERE id = %s", job)
    return found[0], found[1]


def test_a_dead_workers_job_is_done_again() -> None:
    job = job_of_a_worker_last_seen(DEAD_AFTER_SECONDS + 1)
    assert rescue_jobs() == 1
    assert status(job) == ("todo", 1)
    assert rescue_jobs() == 0


def test_a_job_whose_worker_was_forgotten_is_done_again() -> None:
    job = job_of_a_worker_last_seen(DEAD_AFTER_SECONDS + 1)
    row("DELETE FROM procrastinate_workers")  # as a worker does that starts
    assert rescue_jobs() == 1
    assert status(job)[0] == "todo"


def test_a_live_workers_job_is_left_alone() -> None:
    job = job_of_a_worker_last_seen(1)
    assert rescue_jobs() == 0
    assert status(job) == ("doing", 0)
