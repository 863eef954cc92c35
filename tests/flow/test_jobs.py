"""The queue's tasks call their verbs, and the whole journey runs through them."""

import re
from pathlib import Path

import pytest
from procrastinate.contrib.django import app
from procrastinate.jobs import Job

import paraph.flow
from paraph.flow.jobs import RETRY
from paraph.kernel import clock
from paraph.pdf.errors import SealError
from paraph.queue.defer import LANES
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
        signers=2,
        documents=2,
        mode=mode,
        send_email=True,
        initials_required=True,
        notify_signers_on_completion=True,
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


def test_every_deferred_name_is_a_task() -> None:
    source = "".join(path.read_text() for path in Path(paraph.flow.__file__).parent.glob("*.py"))
    names = set(re.findall(r'(?<!\.)\bdefer\("(\w+)"', source))  # a queryset's own defer() names columns
    assert {"invite", "finalize", "notify_completion"} <= names
    assert {f"paraph.flow.jobs.{name}" for name in names} <= set(app.tasks)


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
    lanes = {name: app.tasks[f"paraph.flow.jobs.{name}"].queue for name in ("invite", "notify_completion", "finalize")}
    assert lanes == {"invite": "mail", "notify_completion": "mail", "finalize": "default"}
    assert {task.queue for task in app.tasks.values() if task.name.startswith("paraph.")} == set(LANES)
