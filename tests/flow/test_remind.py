"""Reminders: at most once a day, five in all, told as what they are."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from paraph.flow.ending import end_early
from paraph.flow.sending import invite as inviting
from paraph.flow.sending.invite import invite, remind, reminded_lately, send_reminder
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.links import signing_url
from paraph.signature_requests.models import Reminder, SignatureRequest
from paraph.tenants.models import Application
from paraph.webhooks.models import Delivery
from tests.drafts.author import author
from tests.factories import Scene, jobs, scene, sign
from tests.flow.test_sign import at_once

pytestmark = pytest.mark.django_db


def asked(made: Scene, position: int = 0, message: str = "") -> Reminder:
    return remind(made.scope(), made.request.pk, made.signers[position].pk, author().actor, message)


def invited(**of_request: Any) -> Scene:
    made = scene(signers=2, send_email=True, **of_request)
    invite(made.signers[0].pk)
    CapturedMessage.objects.all().delete()
    return made


def refused(made: Scene, position: int = 0) -> DomainError:
    with pytest.raises(DomainError) as refusal:
        asked(made, position)
    return refusal.value


def code_of(made: Scene, position: int = 0) -> str:
    return refused(made, position).code


def test_mails_the_link_again_and_says_that_it_is_a_reminder() -> None:
    made = invited()
    Application.objects.update(webhook_url="https://shop.example/hooks")
    reminder = asked(made)
    assert jobs()[-1] == ("send_reminder", {"signer_id": made.signers[0].pk, "number": 1})
    for _ in range(2):  # a job may run twice
        send_reminder(reminder.signer_id, reminder.number)
    message = CapturedMessage.objects.get()
    assert message.to == made.signers[0].email and signing_url(made.signers[0]) in message.text
    assert message.subject == "Reminder: Acme Ltd asks you to sign" and "asked you on" in message.text
    first, second = [entry for entry in made.entries() if entry.event_type == "signer.notified"]
    assert "reminder" not in first.metadata and second.metadata["reminder"] is True
    assert Delivery.objects.filter(event_type="signer.notified", destination="application").count() == 1


def test_words_of_the_sender_stand_in_the_mail_and_are_kept_no_longer() -> None:
    made = invited(message="The first words.")
    asked(made, message="We move in on Monday.")
    send_reminder(made.signers[0].pk, 1)
    text = CapturedMessage.objects.get().text
    assert "> We move in on Monday." in text and "The first words." not in text
    assert Reminder.objects.get().message == "" and "Monday" not in str([jobs(), *(e.metadata for e in made.entries())])


def test_words_of_the_sender_go_with_a_reminder_that_is_not_mailed() -> None:
    made = invited()
    asked(made, message="We move in on Monday.")
    sign(made)
    send_reminder(made.signers[0].pk, 1)
    assert Reminder.objects.get().message == ""


@pytest.mark.parametrize(
    ("asked_at", "now", "sentence"),
    [
        ("2026-11-29T12:45:00", "2026-11-29T23:59:59", "Reminded today at 12:45 UTC. You can remind again tomorrow."),
        (
            "2026-11-29T12:45:00",
            "2026-11-30T12:44:59",
            "Reminded yesterday at 12:45 UTC. You can remind again at the same time today.",
        ),
        ("2026-11-29T12:45:00", "2026-11-30T12:45:00", ""),
    ],
)
def test_the_sender_reads_when_and_when_again(
    asked_at: str, now: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [Reminder(asked_at=datetime.fromisoformat(asked_at).replace(tzinfo=UTC))]
    monkeypatch.setattr(clock, "now", lambda: datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert reminded_lately(made) == sentence and reminded_lately([]) == ""


def test_once_a_day_and_five_times_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    made = invited(expires_at=clock.now() + timedelta(days=30))
    start = clock.now()
    for day in range(5):
        monkeypatch.setattr(clock, "now", lambda day=day: start + timedelta(days=day, minutes=day))
        assert asked(made).number == day + 1
        assert code_of(made) == "too_many_reminders"
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(days=9))
    assert code_of(made) == "too_many_reminders"
    assert Reminder.objects.count() == 5


def test_only_who_may_sign_and_was_invited() -> None:
    made = invited(mode="sequential")
    assert code_of(made, 1) == "not_your_turn"
    sign(made)
    assert code_of(made, 0) == "already_signed"
    assert refused(made, 0).message == "The signer has already signed."  # the sender reads it
    assert code_of(made, 1) == "too_many_reminders"  # the invitation is still to be sent


def test_who_signs_before_the_mail_goes_out_gets_none() -> None:
    made = invited()
    reminder = asked(made)
    sign(made)
    CapturedMessage.objects.all().delete()
    send_reminder(reminder.signer_id, reminder.number)
    assert not CapturedMessage.objects.exists() and made.events().count("signer.notified") == 1


@pytest.mark.django_db(transaction=True)
def test_two_members_at_once_remind_once() -> None:
    made = invited()
    actor = author().actor
    answers = at_once(*[lambda: remind(made.scope(), made.request.pk, made.signers[0].pk, actor).number] * 4)
    assert sorted(answers, key=str) == [1, *["too_many_reminders"] * 3]


def test_a_request_that_mails_nobody_says_so() -> None:
    with pytest.raises(DomainError, match="This request sends its signers no mails") as refused:
        asked(scene())
    assert refused.value.code == "too_many_reminders"


@pytest.mark.parametrize("what", ["sign", "end", "expire"])
def test_none_is_journaled_once_the_signer_has_signed_or_it_is_over(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the mail server's answer and the journal, which a reminder is in only while it can be followed."""
    made = invited(mode="sequential")
    reminder = asked(made)
    journal = inviting._journal

    def later(signer_id: int, number: int) -> None:
        if what == "sign":
            sign(made)
        elif what == "end":
            end_early(author().actor, made.request.pk, "Over")
        else:
            SignatureRequest.objects.update(expires_at=clock.now())
        before = made.events()
        journal(signer_id, number)
        assert made.events() == before

    monkeypatch.setattr(inviting, "_journal", later)
    send_reminder(reminder.signer_id, reminder.number)
    assert made.events().count("signer.notified") == 1, "the invitation"


@pytest.mark.django_db(transaction=True)
def test_two_workers_journal_one_reminder_once() -> None:
    made = invited()
    reminder = asked(made)
    at_once(*[lambda: send_reminder(reminder.signer_id, reminder.number)] * 3)
    assert made.events().count("signer.notified") == 2, "the invitation, and this"
