"""The queue's tasks call their verbs, and the whole journey runs through them."""

from datetime import timedelta

import pytest
from procrastinate.contrib.django import app
from procrastinate.exceptions import TaskNotFound
from procrastinate.jobs import Job

from paraph.flow.jobs import RETRY
from paraph.kernel import clock
from paraph.pdf.refusal import SealError
from paraph.queue.jobs import QUEUES, Reschedule, defer
from paraph.signature_requests.models import SignatureRequest
from tests.factories import jobs, scene, sign


def work_off() -> list[str]:
    """Runs the waiting jobs in order, and those they defer, as a worker does but in this process."""
    done = 0
    while len(waiting := jobs()) > done:
        name, arguments = waiting[done]
        app.tasks[f"paraph.flow.jobs.{name}"].func(**arguments)
        done += 1
    return [name for name, _ in jobs()]


@pytest.mark.django_db
@pytest.mark.parametrize("mode", ["sequential", "parallel"])
def test_the_whole_journey(mode: str) -> None:
    made = scene(
        signers=2, documents=2, mode=mode, send_email=True, initials_required=True, notify_signers_on_completion=True
    )
    sign(made, 0, initials={"type": "typed"})
    sign(made, 1, initials={"type": "typed"}, locale="fr")
    ran = work_off()
    first = ["invite"] if mode == "sequential" else []
    assert ran == [*first, "notify_completion", "finalize", "finalize"]
    assert SignatureRequest.objects.get(pk=made.request.pk).finalized
    assert made.events()[-5:] == [
        "request.completed",
        "request.completion_notified",
        "signature_request.pades_signed",
        "signature_request.pades_signed",
        "signature_request.certificate_issued",
    ]


def test_a_job_without_a_task_is_refused_when_it_is_deferred() -> None:
    """The names that verbs defer are run by :func:`test_the_whole_journey`."""
    with pytest.raises(TaskNotFound):
        defer("expire", request_id=1)


def test_a_failing_job_comes_back_later_and_later_for_days() -> None:
    def wait(attempts: int) -> int | None:
        job = Job(id=1, queue="default", lock=None, queueing_lock=None, task_name="x", attempts=attempts)
        decision = RETRY.get_retry_decision(exception=OSError(), job=job)
        if decision is None or decision.retry_at is None:
            return None
        return round((decision.retry_at - clock.now()).total_seconds())

    assert [wait(attempts) for attempts in (0, 1, 2, 8, 9, 299)] == [2, 4, 8, 512, 900, 900]
    assert wait(300) is None
    assert sum(wait(attempts) or 0 for attempts in range(300)) > 3 * 24 * 3600 - 6 * 3600


def test_a_file_that_cannot_be_sealed_is_given_up() -> None:
    def again(attempts: int) -> bool:
        job = Job(id=1, queue="default", lock=None, queueing_lock=None, task_name="x", attempts=attempts)
        return RETRY.get_retry_decision(exception=SealError("No page can be drawn on."), job=job) is not None

    assert [again(attempts) for attempts in (0, 5, 6)] == [True, True, False]


def test_only_mails_wait_for_mails() -> None:
    queues = {name: app.tasks[f"paraph.flow.jobs.{name}"].queue for name in ("invite", "notify_completion", "finalize")}
    assert queues == {"invite": "mail", "notify_completion": "mail", "finalize": "default"}
    assert {task.queue for task in app.tasks.values() if task.name.startswith("paraph.")} == set(QUEUES)


def test_a_job_that_is_put_off_comes_back_at_its_time_however_often() -> None:
    class NoRoomError(Reschedule):
        next_at = clock.now() + timedelta(hours=5)

    job = Job(id=1, queue="mail", lock=None, queueing_lock=None, task_name="x", attempts=RETRY.attempts + 1)
    decision = RETRY.get_retry_decision(exception=NoRoomError(), job=job)
    assert decision is not None and decision.retry_at == NoRoomError.next_at
