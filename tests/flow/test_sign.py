"""Signing in races: one completion, one winner against expiry, one use of a code. The request is locked, then the
signer, and both are read as they stand once locked."""

import threading
from collections.abc import Callable
from datetime import timedelta
from itertools import count

import pytest
from django.db import connection, transaction
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.flow.ending import expire, expire_due
from paraph.flow.events import lock_signer
from paraph.flow.signing.sign import Signature
from paraph.flow.signing.sign import sign as sign_verb
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.models import Application
from paraph.webhooks.models import Delivery
from tests.factories import TYPED, VISITOR, Scene, jobs, scene, sign
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def signing(made: Scene, position: int, code: str) -> Callable[[], str]:
    def work() -> str:
        return sign_verb(made.signer(position), Signature(code, TYPED, None, "en"), VISITOR).status

    return work


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(5))
def test_the_last_signers_at_the_same_instant_complete_once(attempt: int) -> None:
    made = scene(signers=4, documents=2, notify_signers_on_completion=True)
    works = [signing(made, position, made.code(position)) for position in range(4)]
    assert at_once(*works) == ["signed"] * 4
    assert SignatureRequest.objects.get().status == "completed"
    assert made.events().count("signer.signed") == 4
    assert made.events()[-1] == "request.completed" and made.events().count("request.completed") == 1
    assert sorted(name for name, _ in jobs()) == ["finalize", "finalize", "notify_completion"]


@pytest.mark.django_db(transaction=True)
def test_one_code_signs_once() -> None:
    made = scene(signers=2)
    code = made.code()
    answers = at_once(*[signing(made, 0, code)] * 4)
    assert answers.count("signed") == 1
    assert set(answers) <= {"signed", "already_signed", "invalid_otp"}
    assert made.events().count("signer.signed") == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(6))
def test_a_signature_and_the_expiry_end_in_exactly_one(attempt: int, made: Scene) -> None:
    code = made.code()
    due = clock.now() + timedelta(milliseconds=60)
    SignatureRequest.objects.update(expires_at=due)

    def expiring() -> bool:
        while clock.now() < due:
            pass
        return expire(made.request.pk)

    def signing_late() -> str:
        while clock.now() < due - timedelta(milliseconds=5 * attempt):
            pass
        return signing(made, 0, code)()

    signed, expired = at_once(signing_late, expiring)
    status = SignatureRequest.objects.get().status
    if expired:
        assert (signed, status, made.events()[-1]) == ("expired", "expired", "request.expired")
        assert Signer.objects.get().status != "signed"
    else:
        assert (signed, status, made.events()[-1]) == ("signed", "completed", "request.completed")
    assert ("signer.signed" in made.events()) != ("request.expired" in made.events())


@pytest.mark.parametrize("left", range(0, 24, 2))
def test_nobody_signs_after_the_end_whenever_it_comes(left: int, monkeypatch: pytest.MonkeyPatch, made: Scene) -> None:
    """The clock moves on by a millisecond whenever it is read, so that the end falls between any two readings."""
    code = made.code()
    now = clock.now()
    ticks = count()
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(milliseconds=next(ticks)))
    SignatureRequest.objects.update(expires_at=now + timedelta(milliseconds=left))
    try:
        signing(made, 0, code)()
    except DomainError as error:
        assert error.code == "expired"
        assert left < 20  # signing reads the clock less often
        assert made.events()[-1] == "signer.otp_sent"
        return
    signer, request = Signer.objects.get(), SignatureRequest.objects.get()
    signed, completed = made.entries()[-2:]
    assert (signed.event_type, completed.event_type) == ("signer.signed", "request.completed")
    assert signer.signed_at == request.completed_at == signed.created_at == completed.created_at
    assert signed.created_at < request.expires_at


def test_a_refused_signature_leaves_nothing_but_the_attempt(monkeypatch: pytest.MonkeyPatch, made: Scene) -> None:
    code = made.code()

    def fail(*_: object) -> None:
        raise RuntimeError("the power is gone")

    monkeypatch.setattr("paraph.flow.signing.sign.complete", fail)
    with pytest.raises(RuntimeError):
        signing(made, 0, code)()
    signer = Signer.objects.get()
    assert (signer.status, signer.signed_at, signer.signature_encrypted) == ("pending", None, None)
    assert made.events() == ["signature_request.created", "signer.otp_sent"]
    assert jobs() == []
    monkeypatch.undo()
    assert signing(made, 0, code)() == "signed"  # the code was not used up


@pytest.mark.parametrize(
    ("mode", "send_email", "invited"),
    [("sequential", True, True), ("sequential", False, False), ("parallel", True, False)],
)
def test_the_next_in_line_is_invited(mode: str, send_email: bool, invited: bool) -> None:
    made = scene(signers=3, mode=mode, send_email=send_email)
    sign(made)
    assert jobs() == ([("invite", {"signer_id": made.signers[1].pk})] if invited else [])


def test_expiry_takes_what_is_due_and_pending_alone() -> None:
    due, early, done = scene(callback_url="https://callback.example/done"), scene(), scene()
    sign(done)
    code = due.code()
    Application.objects.update(webhook_url="https://shop.example/hooks")
    SignatureRequest.objects.filter(pk__in=[due.request.pk, done.request.pk]).update(expires_at=clock.now())
    assert expire_due() == 1
    assert not expire(early.request.pk) and not expire(done.request.pk) and not expire(due.request.pk)
    statuses = dict(SignatureRequest.objects.values_list("pk", "status"))
    assert [statuses[made.request.pk] for made in (due, early, done)] == ["expired", "pending", "completed"]
    entry = due.entries()[-1]
    assert (entry.event_type, entry.signer_id, entry.ip) == ("request.expired", None, "")
    told = Delivery.objects.filter(event_type="request.expired").order_by("pk").values_list("destination", flat=True)
    assert list(told) == ["application", "callback"]
    with pytest.raises(DomainError, match="expired"):
        signing(due, 0, code)()
    assert SignatureRequest.objects.get(pk=due.request.pk).status == "expired"


def test_seals_of_a_tenant_with_fewer_that_wait_come_first(db: None) -> None:
    first, second = scene(), scene()
    more = scene()
    SignatureRequest.objects.filter(pk=more.request.pk).update(organization=first.request.organization_id)
    for made in (first, more, second):
        sign(made, 0)
    seals = ProcrastinateJob.objects.filter(task_name__endswith="finalize")
    ranks = {job.args["request_document_id"]: job.priority for job in seals}
    assert [ranks[made.request_documents[0].pk] for made in (first, more, second)] == [0, -1, 0]


def lock_beside(signer: Signer) -> tuple[threading.Thread, list[Signer]]:
    """Start a thread that locks the signer and lets go at once; return it, and a list for the signer as locked."""
    found: list[Signer] = []

    def lock() -> None:
        try:
            with transaction.atomic():
                found.append(lock_signer(signer.pk))
        finally:
            connection.close()

    thread = threading.Thread(target=lock)
    thread.start()
    return thread, found


def wait_for_a_waiter() -> None:
    with connection.cursor() as cursor:
        for _ in range(5000):
            cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
            if cursor.fetchone():
                return
    raise AssertionError("nobody waits")


@pytest.mark.django_db(transaction=True)
def test_who_waits_for_the_request_does_not_hold_the_signer_and_reads_both_as_the_one_before_left_them(
    made: Scene,
) -> None:
    with transaction.atomic():
        request = SignatureRequest.objects.select_for_update().get(pk=made.request.pk)
        thread, found = lock_beside(made.signers[0])
        wait_for_a_waiter()
        Signer.objects.select_for_update(nowait=True).get(pk=made.signers[0].pk)
        request.status = "completed"
        request.save()
        Signer.objects.filter(pk=made.signers[0].pk).update(status="signed")
    thread.join()
    assert [(signer.status, signer.request.status) for signer in found] == [("signed", "completed")]
