"""What operators see of a request."""

import pytest

from paraph.cli.request import lines_of
from paraph.kernel import clock
from paraph.operations.request_state import request_state
from paraph.signature_requests.fields.store import write
from paraph.signature_requests.models import Field, Reminder, SignatureRequest, Signer
from tests.factories import scene

pytestmark = pytest.mark.django_db


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
    assert state["copies"] == [{"full_name": "Ada Lovelace", "email": "copy0@example.com", "notified_at": None}]
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


def test_a_request_without_any_of_it_is_shown_in_the_lines_that_it_has() -> None:
    lines = lines_of(request_state(scene().request.pk))
    assert not [line for line in lines if "decline" in line or "approve" in line or line == "Copies"]
