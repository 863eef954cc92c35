"""What operators see of a request."""

import pytest

from paraph.cli.request import lines_of
from paraph.kernel import clock
from paraph.operations.request_state import request_state
from paraph.signature_requests.models import Reminder, Signer
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
