"""The queue's tasks call their verbs, and the whole journey runs through them. Work that no request waits for is shared
by as many jobs as the work needs and workers have places for, and done after work that is waited for. Every journal
entry has a name of rules 6.2 and 21."""

from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from procrastinate.contrib.django import app
from procrastinate.jobs import Job

from paraph.audit_trail.models import Entry, EventType
from paraph.flow import jobs as tasks
from paraph.flow.ending import end_early, expire_due
from paraph.flow.housekeeping import retention as deleting
from paraph.flow.jobs import RETRY, do_what_is_due
from paraph.flow.messages.sent_once import note_undelivered
from paraph.flow.personal_data import erase
from paraph.kernel import clock
from paraph.pdf.refusal import SealError
from paraph.queue.jobs import LAST, QUEUES, Reschedule, defer, defer_last, is_live
from paraph.queue.stalled_jobs import living_workers
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.admin_log import OPERATOR
from tests.api.v1.api_clients import api_client, payload
from tests.factories import Scene, jobs, scene, sign
from tests.tenancy import set_retention
from tests.threads import beside_each_other

pytestmark = pytest.mark.django_db
NAME = "do_what_is_due"


def work_off() -> list[str]:
    """Run the waiting jobs, and those they defer, in order and in this process; return the names of all."""
    done = 0
    while len(waiting := jobs()) > done:
        name, arguments = waiting[done]
        app.tasks[f"paraph.flow.jobs.{name}"].func(**arguments)
        done += 1
    return [name for name, _ in jobs()]


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


def waits(error: Exception, attempts: int, queue: str = "default") -> float | None:
    """Return the seconds that a job waits after failing with this error at this attempt; None where it is given up."""
    job = Job(id=1, queue=queue, lock=None, queueing_lock=None, task_name="x", attempts=attempts)
    decision = RETRY.get_retry_decision(exception=error, job=job)
    return None if decision is None or not decision.retry_at else (decision.retry_at - clock.now()).total_seconds()


def test_a_failing_job_comes_back_later_and_later_for_days() -> None:
    seconds = [round(waits(OSError(), attempts) or 0) for attempts in range(301)]
    assert [seconds[attempts] for attempts in (0, 1, 2, 8, 9, 299, 300)] == [2, 4, 8, 512, 900, 900, 0]
    assert sum(seconds) > 3 * 24 * 3600 - 6 * 3600
    cannot = SealError("No page can be drawn on.")
    assert [waits(cannot, attempts) is None for attempts in (0, 5, 6)] == [False, False, True]


def test_a_job_that_is_put_off_comes_back_at_its_time_however_often() -> None:
    class NoRoomError(Reschedule):
        next_at = clock.now() + timedelta(hours=5)

    assert waits(NoRoomError(), RETRY.attempts + 1, "mail") == pytest.approx(5 * 3600, abs=60)


def test_only_mails_wait_for_mails() -> None:
    queues = {name: app.tasks[f"paraph.flow.jobs.{name}"].queue for name in ("invite", "notify_completion", "finalize")}
    assert queues == {"invite": "mail", "notify_completion": "mail", "finalize": "default"}
    assert {task.queue for task in app.tasks.values() if task.name.startswith("paraph.")} == set(QUEUES)


def alive(processes: int, seconds_ago: float = 1) -> None:
    """Register so many worker processes whose last heartbeat was so many seconds ago."""
    beat = "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - make_interval(secs => %s))"
    with connection.cursor() as cursor:
        for _ in range(processes * len(QUEUES)):
            cursor.execute(beat, [seconds_ago])


def backlog(count: int) -> list[int]:
    """Make so many requests whose files and people are both due; return their ids."""
    made = [scene() for _ in range(count)]
    for each in made:
        end_early(OPERATOR, each.request.pk, "over")
        set_retention(each.request.organization_id, "sandbox", 1, 1)
    SignatureRequest.objects.update(ended_early_at=clock.now() - timedelta(days=3))
    return [each.request.pk for each in made]


def done(name: str) -> int:
    return SignatureRequest.objects.exclude(**{name: None}).count()


@pytest.mark.parametrize(("workers", "parts"), [(0, 1), (1, 1), (2, 2), (6, 6)])
def test_as_many_jobs_join_in_as_half_of_the_places(workers: int, parts: int, settings: Any) -> None:
    assert settings.PARAPH.worker_concurrency == 2
    alive(workers)
    alive(9, seconds_ago=60)  # dead ones, which have no places
    assert living_workers() == workers
    backlog(1)
    do_what_is_due(0)
    assert jobs() == [(NAME, {"part": part}) for part in range(parts)]
    do_what_is_due(0)  # nothing is left
    assert len(jobs()) == parts


def test_one_of_the_others_goes_on_alone_and_none_is_there_twice() -> None:
    alive(6)
    backlog(1)
    defer_last(NAME, part=2)
    do_what_is_due(0)
    assert sorted(args["part"] for _, args in jobs()) == list(range(6))
    backlog(1)
    do_what_is_due(4)
    assert [args["part"] for _, args in jobs()].count(4) == 2  # the job defers itself again
    assert len(jobs()) == 7


def test_nothing_due_makes_no_job_but_the_one_that_looks() -> None:
    alive(6)
    [begin] = [task for task in app.periodic_registry.periodic_tasks.values() if "begin_what" in task.task.name]
    begin.task.func(timestamp=0)
    begin.task.func(timestamp=0)
    assert jobs() == [(NAME, {"part": 0})]
    do_what_is_due(0)
    assert len(jobs()) == 1


def test_a_kind_that_fails_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def preserve_due() -> int:
        raise OSError("the store is away")

    monkeypatch.setattr(tasks, "_DUE", (preserve_due, *tasks._DUE[1:]))
    backlog(2)
    do_what_is_due(0)
    assert (done("files_deleted_at"), done("people_forgotten_at")) == (2, 2)


def test_jobs_that_somebody_waits_for_come_first() -> None:
    defer_last(NAME, part=0)
    defer("finalize", request_document_id=1)
    manager: Any = app.job_manager
    worker = async_to_sync(manager.register_worker)()
    fetched = [async_to_sync(manager.fetch_job)(["default"], worker) for _ in range(2)]
    assert [job.task_name.rpartition(".")[2] for job in fetched] == ["finalize", NAME]
    assert fetched[1].priority == -LAST
    assert is_live(NAME, part=0) and not is_live(NAME, part=1)


@pytest.mark.django_db(transaction=True)
def test_two_workers_do_a_backlog_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (deleting, erase):
        monkeypatch.setattr(module, "_AT_ONCE", 2)
    counted = list[int]()

    def counting(verb: Any) -> Any:
        def run() -> int:
            count: int = verb()
            counted.append(count)
            return count

        run.__name__ = verb.__name__
        return run

    monkeypatch.setattr(tasks, "_DUE", tuple(map(counting, tasks._DUE[1:])))
    made = backlog(11)

    def work() -> None:
        while done("people_forgotten_at") < len(made):
            do_what_is_due(1)

    beside_each_other(work, work)
    assert (done("files_deleted_at"), done("people_forgotten_at")) == (len(made), len(made))
    assert sum(counted) == 2 * len(made)


def test_these_events_and_no_others_are_journaled() -> None:
    owner = api_client()
    options = {"send_email": True, "identity_declaration_accepted": True, "notify_signers_on_completion": True}
    assert owner.create(payload(owner.document(), **options)).status_code == 201
    request = SignatureRequest.objects.get()
    work_off()
    signer = request.signers.latest("order")
    corrected = owner.post(f"/signature_requests/{request.pk}/signers/{signer.pk}/correct", {"email": "x@example.org"})
    extended = owner.post(f"/signature_requests/{request.pk}/extend", {"validity_days": 90})
    assert (corrected.status_code, extended.status_code) == (200, 200)
    work_off()
    for position in range(request.signers.count()):
        sign(Scene(request, list(request.signers.all()), list(request.request_documents.all())), position)
        work_off()
    note_undelivered(request.signers.latest("order"), "completion-1", "550 no")
    scene(expires_at=clock.now())
    expire_due()
    assert set(Entry.objects.values_list("event_type", flat=True)) == set(EventType)
