"""What operators see of a request: why it waits. How they retry it: nothing is done twice."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from paraph.cli.request import lines_of
from paraph.evidence.failures import sealing_failures
from paraph.flow.sealing.finalize import finalize, prove, seal
from paraph.flow.signing.decline_or_ask import decline
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.models import CapturedMessage
from paraph.operations.pending_work import retry, retry_all
from paraph.operations.request_state import request_state
from paraph.otp.models import OneTimeCode
from paraph.queue.jobs import defer
from paraph.signature_requests.fields.entry import write
from paraph.signature_requests.links import token
from paraph.signature_requests.models import Field, Reminder, SenderMail, SignatureRequest, Signer
from paraph.storage import store
from paraph.tenants.models import Member, Organization
from paraph.webhooks.models import Attempt, Delivery
from tests.factories import VISITOR, Scene, jobs, scene, sign
from tests.flow.test_jobs import work_off
from tests.flow.test_tell_sender import SENDER, sent
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def outcomes(made: Scene) -> list[tuple[str, str]]:
    return [(step.task, step.outcome) for step in retry(made.request.pk)]


def why(made: Scene) -> str:
    told: str = request_state(made.request.pk)["why"]
    return told


def test_a_request_that_waits_for_people() -> None:
    made = scene(signers=2, mode="sequential")
    until = clock.iso(made.request.expires_at)
    assert why(made) == f"It waits for Ada Lovelace to sign, until {until}."
    sign(made)
    assert why(made) == f"It waits for Émile Zola to sign, until {until}."
    assert outcomes(made) == []


def test_the_state_tells_everything_but_what_opens_the_page() -> None:
    made = scene(signers=2, send_email=True)
    sign(made)
    state = request_state(made.request.pk)
    assert [signer["status"] for signer in state["signers"]] == ["signed", "pending"]
    assert [entry["event_type"] for entry in state["journal"]] == made.events()
    assert state["journal_broken_at"] is None and state["proof"] is None
    assert not any(token(signer) in str(state) for signer in made.signers)
    lines = lines_of(state)
    assert not [line for line in lines if "decline" in line or "approve" in line or line == "Copies"]
    SignatureRequest.objects.update(status="expired")
    assert why(made).startswith("It expired on") and "Émile Zola" in why(made)
    assert outcomes(made) == []


def test_wrong_codes_and_a_lock_are_told() -> None:
    made = scene(signers=2)
    made.code()
    assert [signer["wrong_codes"] for signer in request_state(made.request.pk)["signers"]] == [None, None]
    until = clock.now() + timedelta(hours=3)
    OneTimeCode.objects.update(wrong_guesses=20, locked_until=until)
    told = "\n".join(lines_of(request_state(made.request.pk)))
    assert f"wrong codes: 20, locked until {clock.iso(until)}" in told
    assert f"No code is sent to or taken from Ada Lovelace until {clock.iso(until)}: 20 wrong ones" in why(made)
    OneTimeCode.objects.update(locked_until=clock.now())
    assert "wrong codes: 20\n" in "\n".join(lines_of(request_state(made.request.pk)))
    assert "No code" not in why(made)


def test_an_invitation_that_was_lost_is_asked_for_again_and_once() -> None:
    made = scene(signers=2, mode="sequential", send_email=True)
    assert "It waits for the invitation of Ada Lovelace, but no job is there" in why(made)
    assert outcomes(made) == [("invite", "deferred")]
    assert outcomes(made) == [("invite", "waiting")]
    assert jobs() == [("invite", {"signer_id": made.signers[0].pk})]
    assert "no worker is alive" in why(made)


def test_it_is_told_what_came_of_each_webhook(made: Scene) -> None:
    sent = made.request
    assert sent.application
    for path, status, error in (("refused", 302, ""), ("gone", None, "no complete answer within 5 seconds")):
        delivery = Delivery.objects.create(
            application=sent.application,
            request=sent,
            destination="application",
            url=f"https://hooks.example/{path}",
            endpoint="x",
            event_type="signer.signed",
            occurred_at=clock.now(),
            payload="{}",
            due_at=clock.now(),
        )
        Attempt.objects.create(delivery=delivery, started_at=clock.now(), status_code=status, error=error)
    told = "\n".join(lines_of(request_state(sent.pk)))
    assert "HTTP 302  https://hooks.example/refused" in told
    assert "no complete answer within 5 seconds  https://hooks.example/gone" in told


def test_each_missing_step_in_turn() -> None:
    made = scene(documents=2)
    sign(made)
    execute("DELETE FROM procrastinate_jobs")  # as if the database had been restored to an unlucky moment
    assert "It waits for the seal of document" in why(made)
    assert outcomes(made) == [("finalize", "deferred"), ("finalize", "deferred")]
    for row in made.request_documents:
        seal(row.pk)
    assert outcomes(made) == [("finalize", "waiting")]
    execute("DELETE FROM procrastinate_jobs")
    assert "It waits for its proof file" in why(made)
    prove(made.request.pk)
    assert "It waits for the last check of its files" in why(made)
    assert outcomes(made) == [("finalize", "deferred")]
    finalize(made.request_documents[0].pk)
    assert outcomes(made) == [] and why(made).startswith("It is finalized")


def test_a_fault_is_told_and_its_retry_brought_forward(made: Scene) -> None:
    sign(made)
    content = store.get(made.request_documents[0].document.object_key)
    store.put(made.request_documents[0].document.object_key, b"something else")
    with pytest.raises(DomainError):
        seal(made.request_documents[0].pk)
    execute("UPDATE procrastinate_jobs SET attempts = 3, scheduled_at = now() + interval '10 minutes'")
    told = why(made)
    assert "3 attempts failed, the next is due on" in told and "is not the one that was shown." in told
    assert request_state(made.request.pk)["sealing_failure"]["stage"] == "seal"
    assert outcomes(made) == [("finalize", "brought forward")]
    assert outcomes(made) == [("finalize", "waiting")]
    assert len(jobs()) == 1
    store.put(made.request_documents[0].document.object_key, content)
    seal(made.request_documents[0].pk)
    assert request_state(made.request.pk)["sealing_failure"] is None


def test_a_job_that_gave_up_is_replaced(made: Scene) -> None:
    sign(made)
    execute("UPDATE procrastinate_jobs SET status = 'failed', attempts = 300")
    assert "gave up after 300 attempts" in why(made)
    assert outcomes(made) == [("finalize", "deferred")]
    (job,) = request_state(made.request.pk)["jobs"]
    assert (job["status"], job["attempts"]) == ("todo", 0)


@pytest.mark.django_db(transaction=True)
def test_mails_about_a_decline_whose_jobs_gave_up_are_asked_for_again() -> None:
    made = sent(signers=3, decline_allowed=True)
    Organization.objects.update(contact_email="contracts@acme.example")
    Signer.objects.filter(pk=made.signers[1].pk).update(status="notified")
    decline(SignatureRequest.objects.get().signers.get(pk=made.signers[0].pk), "No.", VISITOR)
    tasks = ["tell_sender", "tell_sender", "tell_signer_of_end"]
    assert outcomes(made) == [(task, "waiting") for task in tasks]
    execute("UPDATE procrastinate_jobs SET status = 'failed', attempts = 300")
    told = why(made)
    for to in ("the sender", "the contact address", "Émile Zola"):
        assert f"It waits for the mail to {to} about the decline, whose job gave up after 300 attempts" in told
    assert retry_all() == 1
    assert [name for name, _ in jobs()] == tasks
    CapturedMessage.objects.all().delete()
    work_off()
    told_them = {mail.to for mail in CapturedMessage.objects.all()}
    assert told_them == {SENDER, "contracts@acme.example", made.signers[1].email}
    assert outcomes(made) == [] and "It waits for" not in why(made)
    SenderMail.objects.update(sent_at=None)
    Member.objects.all().delete()
    Organization.objects.update(contact_email="")
    assert outcomes(made) == [], "nobody wants them any more"


def test_a_job_that_runs_is_left_alone(made: Scene) -> None:
    sign(made)
    execute("UPDATE procrastinate_jobs SET status = 'doing'")
    assert "which a worker is at" in why(made)
    assert outcomes(made) == [("finalize", "running")]
    assert len(jobs()) == 1


@pytest.mark.django_db(transaction=True)
def test_many_operators_at_once_ask_once() -> None:
    made = scene(send_email=True)
    at_once(*[lambda: retry(made.request.pk)] * 4)
    assert len(jobs()) == 1


@pytest.mark.parametrize("verb", [request_state, retry])
def test_an_unknown_request_gets_a_sentence(verb: Any) -> None:
    with pytest.raises(DomainError, match="There is no signature request 987654"):
        verb(987654)


def test_what_was_given_up_is_listed_until_it_is_mended(made: Scene) -> None:
    sign(made)
    key = made.request_documents[0].document.object_key
    content = store.get(key)
    store.put(key, b"something else")
    with pytest.raises(DomainError):
        seal(made.request_documents[0].pk)
    assert sealing_failures(given_up_only=True, limit=10) == []
    (row,) = sealing_failures(given_up_only=False, limit=10)
    assert (row["request_id"], row["stage"], row["given_up"]) == (made.request.pk, "seal", False)
    execute("UPDATE procrastinate_jobs SET status = 'failed'")
    (row,) = sealing_failures(given_up_only=True, limit=10)
    assert row["given_up"] and "is not the one that was shown" in row["cause"]
    store.put(key, content)
    assert outcomes(made) == [("finalize", "deferred")]
    seal(made.request_documents[0].pk)
    assert sealing_failures(given_up_only=False, limit=10) == []


def test_what_its_own_system_knows_it_by() -> None:
    made = scene(external_id="lease-4711", metadata={"street": "Lime Street"}, remind_every_days=3, reminders_at_most=5)
    state = request_state(made.request.pk)
    assert (state["external_id"], state["metadata"]) == ("lease-4711", {"street": "Lime Street"})
    lines = lines_of(state)
    assert state["reminders"] == {"every_days": 3, "at_most": 5} and "  reminders every 3 days, at most 5" in lines
    assert "  external id lease-4711" in lines and "  street: Lime Street" in lines
    bare = request_state(scene().request.pk)
    assert (bare["external_id"], bare["metadata"], bare["reminders"]) == (None, {}, None)
    assert len(lines_of(bare)) == len(lines) - 3


def test_a_reminder_that_is_not_out() -> None:
    made = scene(send_email=True)
    Signer.objects.update(notified_at=clock.now(), status="notified")
    Reminder.objects.create(signer=made.signers[0], number=1)
    why = request_state(made.request.pk)["why"]
    assert "It waits for a reminder for Ada Lovelace, but no job is there to do it" in why
    Reminder.objects.update(mail={"taken_at": "2026-01-01T00:00:00+00:00"})
    assert "reminder" not in request_state(made.request.pk)["why"]


def test_fields_roles_copies_and_who_declined() -> None:
    fields = [{"name": "iban", "label": "Your IBAN"}, {"name": "pets", "type": "checkbox"}, {"name": "town"}]
    made = scene(signers=2, approvers=[1], copies=1, fields=fields, decline_allowed=True)
    document_id = made.request_documents[0].document_id
    state = request_state(made.request.pk)
    [first, second] = state["signers"]
    assert (first["role"], second["role"], second["fields"]) == ("signer", "approver", [])
    iban = {"document_id": document_id, "name": "iban", "type": "text", "label": "Your IBAN", "value": None}
    assert first["fields"][0] == iban
    assert state["copies"] == [
        {"full_name": "Ada Lovelace", "email": "copy0@example.com", "notified_at": None, "undelivered": None}
    ]
    assert state["decline_allowed"] is True and state["declined_by"] is None

    signer = Signer.objects.get(pk=made.signers[0].pk)
    iban_field, pets, town = Field.objects.order_by("position")
    write(signer, {iban_field.pk: "DE89", pets.pk: True, town.pk: "A\nB"})
    signer.save(update_fields=["fields_encrypted"])
    assert request_state(made.request.pk)["signers"][0]["fields"][0]["value"] is None, "entered, and not signed"
    Signer.objects.filter(pk=signer.pk).update(status="signed", signed_at=clock.now())
    state = request_state(made.request.pk)
    assert [field["value"] for field in state["signers"][0]["fields"]] == ["DE89", True, "A\nB"]
    lines = lines_of(state)
    told = [("Your IBAN", "text", "DE89"), ("pets", "checkbox", "ticked"), ("town", "text", "A / B")]
    for label, kind, value in told:
        assert f"     {label} ({kind}, document {document_id}): {value}" in lines
    assert "  Ada Lovelace <copy0@example.com>  " in lines and "  signers may decline" in lines
    assert any("Émile Zola <émile2@example.com>, who approves  pending" in line for line in lines)

    who = Signer.objects.get(pk=made.signers[1].pk)
    over = {"status": "expired", "ended_early_at": clock.now(), "ended_reason": "Too dear.", "declined_by": who}
    SignatureRequest.objects.update(**over)
    state = request_state(made.request.pk)
    assert state["declined_by"] == who.pk and "     declined" in lines_of(state)
    assert "It was declined by Émile Zola on" in state["why"] and state["why"].endswith(": Too dear.")


def test_what_waits_is_retried_and_nothing_else() -> None:
    done, lost, invited, waiting = scene(), scene(), scene(send_email=True), scene(send_email=True)
    sign(done)
    work_off()
    sign(lost)
    execute("DELETE FROM procrastinate_jobs")  # as if from a backup that was taken before the jobs
    defer("invite", signer_id=invited.signers[0].pk)
    execute("UPDATE procrastinate_jobs SET status = 'failed'")
    defer("invite", signer_id=waiting.signers[0].pk)
    assert retry_all() == 2
    rows = {(name, *arguments.values()) for name, arguments in jobs()}
    assert rows == {
        ("invite", invited.signers[0].pk),
        ("invite", waiting.signers[0].pk),
        ("finalize", lost.request_documents[0].pk),
    }
