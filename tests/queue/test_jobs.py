"""A job in the queue is as the queue itself would have put it there; its line in the log names what the job is about
by numbers, and holds nothing that a person wrote. Jobs whose worker died go back into the queue, once for each death
and not for ever."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateEvent, ProcrastinateJob
from procrastinate.exceptions import TaskNotFound
from structlog.contextvars import bound_contextvars
from structlog.testing import capture_logs

from paraph.database import rows
from paraph.evidence.failures import finalization, given_up
from paraph.evidence.models import SealingFailure
from paraph.flow.jobs import give_up
from paraph.operations.pending_work import retry
from paraph.queue import jobs, stalled_jobs
from paraph.queue.jobs import RANKS, Reschedule, defer, logged
from paraph.queue.stalled_jobs import DEAD_AFTER_SECONDS, rescue_jobs
from paraph.signature_requests.models import SignatureRequest
from tests.factories import Scene, sign

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_job_is_as_procrastinate_itself_makes_it() -> None:
    arguments: dict[str, Any] = {"signer_id": 7, "trace": "0123"}
    with bound_contextvars(request_id="0123"):
        app.configure_task("paraph.flow.jobs.invite", allow_unknown=False).defer(**arguments)
        defer("invite", signer_id=7)
        rows.insert([jobs.job("invite", signer_id=7), jobs.job("invite", signer_id=7)])
    theirs, *ours = map(_facts, ProcrastinateJob.objects.order_by("pk"))
    assert theirs["args"] == arguments and theirs["events"] == ["deferred"]
    assert ours == [theirs, theirs, theirs]


def _facts(row: ProcrastinateJob) -> dict[str, Any]:
    """All columns of the job but its id, and the events that the queue noted of it."""
    events = list(ProcrastinateEvent.objects.filter(job_id=row.pk).values_list("type", flat=True))
    fields = [field.attname for field in ProcrastinateJob._meta.concrete_fields if not field.primary_key]
    return {name: getattr(row, name) for name in fields} | {"events": events}


def test_a_task_that_nobody_knows_is_no_job() -> None:
    with pytest.raises(TaskNotFound):
        jobs.job("invent")


def done(**_: Any) -> None:
    pass


def failed(**_: Any) -> None:
    raise OSError("the server said: Ada")


@pytest.mark.parametrize("verb", [done, failed])
def test_arguments_that_are_no_numbers_stay_out(verb: Callable[..., None]) -> None:
    for secret in ("c2VhbGVk", ["c2VhbGVk"], {"mail": "c2VhbGVk"}, b"c2VhbGVk", 1.5, True, None):
        with capture_logs() as lines, suppress(OSError):
            logged("mail_account", verb)(trace="0123456789abcdef", request_id=4, signer_id=7, sealed=secret)
        [line] = lines
        assert (line["task"], line["signature_request"], line["signer_id"]) == ("mail_account", 4, 7)
        assert not re.search("c2VhbGVk|sealed|Ada", repr(line)), secret


def test_one_that_is_put_off_likewise() -> None:
    class Full(Reschedule):
        reason, retry_after = "full", 5

    def later(**_: Any) -> None:
        raise Full

    with capture_logs() as lines, pytest.raises(Full):
        logged("mail_account", later)(sealed="c2VhbGVk")
    assert "sealed" not in lines[0]


def row(query: str, *values: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchone() if cursor.description else None


@pytest.fixture(autouse=True)
def _for_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the service run for an hour already."""
    monkeypatch.setattr(stalled_jobs, "SERVICE_BEGAN", time.monotonic() - 3600)


def job_of_a_dead_worker(task: str = "notify_completion", **arguments: int) -> int:
    job = app.configure_task(f"paraph.flow.jobs.{task}").defer(**arguments or {"request_id": 1})
    dies(job)
    return job


def dies(job: int, seconds_ago: float = DEAD_AFTER_SECONDS + 1, *, at_it: float = 5) -> None:
    """Have a worker take the job, work ``at_it`` seconds and then die, ``seconds_ago``."""
    (worker,) = row(
        "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - %s) RETURNING id",
        timedelta(seconds=seconds_ago),
    )
    row("UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s WHERE id = %s", worker, job)
    began = timedelta(seconds=seconds_ago + at_it)
    row("UPDATE procrastinate_events SET at = now() - %s WHERE type = 'started' AND job_id = %s", began, job)


def status(job: int) -> tuple[str, int]:
    found = row("SELECT status, attempts FROM procrastinate_jobs WHERE id = %s", job)
    return found[0], found[1]


@pytest.mark.parametrize("forgotten", [False, True])
def test_a_dead_workers_job_is_done_again(forgotten: bool) -> None:
    job = job_of_a_dead_worker()
    if forgotten:
        row("DELETE FROM procrastinate_workers")  # a worker that starts does so
    assert rescue_jobs(give_up) == 1
    assert status(job) == ("todo", 1)
    assert rescue_jobs(give_up) == 0


def test_a_live_workers_job_is_left_alone() -> None:
    job = app.configure_task("paraph.flow.jobs.notify_completion").defer(request_id=1)
    dies(job, 1)
    with CaptureQueriesContext(connection) as asked:
        assert rescue_jobs(give_up) == 0
    assert len(asked) == 1, "each worker looks every few seconds"
    assert status(job) == ("doing", 0)


def waits(job: int) -> timedelta:
    (left,) = row("SELECT scheduled_at - now() FROM procrastinate_jobs WHERE id = %s", job)
    assert isinstance(left, timedelta)
    return left


@pytest.mark.parametrize(("task", "arguments"), [("notify_completion", {}), ("sweep_storage", {"timestamp": 1})])
def test_a_job_over_which_three_workers_died_is_given_up(
    task: str, arguments: dict[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    job = job_of_a_dead_worker(task, **arguments)
    rescue_jobs(give_up)
    dies(job)
    rescue_jobs(give_up)
    assert status(job) == ("todo", 2)
    dies(job)
    assert rescue_jobs(give_up) == 1
    assert status(job)[0] == "failed"
    assert rescue_jobs(give_up) == 0
    assert "job gave up" in caplog.text


def test_its_request_is_shown_and_can_be_tried_again(made: Scene) -> None:
    sign(made)
    request = SignatureRequest.objects.get()
    (job,) = row("SELECT id FROM procrastinate_jobs WHERE task_name = 'paraph.flow.jobs.finalize'")
    for _ in range(3):
        dies(job)
        rescue_jobs(give_up)

    assert SealingFailure.objects.get().cause == "WorkerDied: A worker died 3 times while it was at this job."
    assert given_up() == {request.pk}
    told = finalization(request.pk)
    assert told and told["state"] == "given_up"
    assert "A worker died" not in told["cause"]

    assert [each.outcome for each in retry(request.pk)] == ["deferred"]
    found = row("SELECT id, status, priority FROM procrastinate_jobs WHERE task_name LIKE %s", "%finalize")
    assert found[0] != job
    assert found[1:] == ("todo", 0)


def test_a_suspected_job_comes_after_all_others_and_not_beside_another_one() -> None:
    jobs = [job_of_a_dead_worker() for _ in range(3)]
    sound = app.configure_task("paraph.flow.jobs.notify_completion").defer(request_id=1)
    rescue_jobs(give_up)
    assert all(waits(job) < timedelta(seconds=1) for job in jobs)
    assert row("SELECT id FROM procrastinate_jobs ORDER BY priority DESC, id LIMIT 1") == (sound,)

    for job in jobs:
        dies(job)
    rescue_jobs(give_up)
    moments = sorted(waits(job) for job in jobs)
    assert moments[1] - moments[0] > timedelta(seconds=1)
    assert moments[2] - moments[1] > timedelta(seconds=1)


def test_jobs_at_hand_when_the_whole_service_was_ended_are_not_suspected(monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_of_a_dead_worker()
    for _ in range(4):
        with monkeypatch.context() as restarted:
            restarted.setattr(stalled_jobs, "SERVICE_BEGAN", time.monotonic() - DEAD_AFTER_SECONDS)
            rescue_jobs(give_up)
        assert status(job)[0] == "todo"
        dies(job)
    assert row("SELECT priority FROM procrastinate_jobs WHERE id = %s", job) == (0,)


def test_workers_that_somebody_kills_are_no_fault_of_what_they_had_just_begun() -> None:
    job = job_of_a_dead_worker()
    rescue_jobs(give_up)
    for _ in range(4):
        dies(job, at_it=0.2)
        rescue_jobs(give_up)
    assert status(job)[0] == "todo"
    assert row("SELECT priority FROM procrastinate_jobs WHERE id = %s", job) == (-RANKS,)


def test_a_rank_is_no_death_of_a_worker() -> None:
    job = job_of_a_dead_worker()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET priority = %s WHERE id = %s", [-7, job])
    rescue_jobs(give_up)
    assert row("SELECT priority FROM procrastinate_jobs WHERE id = %s", job) == (-RANKS - 7,)
    assert status(job)[0] == "todo"
