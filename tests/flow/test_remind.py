"""Invitations, the summary at completion (rules 3.2, 4.5), and reminders: at most one a day, and called reminders; five
by hand, and automatic ones to the signer whose turn it is, every so many days and so many times."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client

from paraph.flow.ending import end_early
from paraph.flow.messages.copies import notify_completion
from paraph.flow.sending import invite as inviting
from paraph.flow.sending.invite import invite, remind, remind_due, reminded_lately, send_reminder
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests import links
from paraph.signature_requests.links import signing_url
from paraph.signature_requests.models import Reminder, SignatureRequest, Signer
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.models import Application, Organization
from paraph.webhooks.models import Delivery
from tests.drafts.author import author
from tests.factories import Scene, jobs, scene, sign
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def summaries() -> QuerySet[CapturedMessage]:
    return CapturedMessage.objects.filter(message_id__startswith="completion-")


def test_mails_the_link_then_marks_and_journals() -> None:
    made = scene(signers=2, send_email=True)
    Application.objects.update(webhook_url="https://shop.example/hooks")
    signer = made.signers[0]
    invite(signer.pk)
    message = CapturedMessage.objects.get()
    assert message.to == signer.email and signing_url(signer) in message.text
    assert message.message_id == f"invitation-{signer.pk}"
    assert "Acme Ltd" in message.subject
    signer.refresh_from_db()
    assert signer.status == "notified" and signer.notified_at
    entry = made.entries()[-1]
    assert (entry.event_type, entry.signer_id) == ("signer.notified", signer.pk)
    facts = {"channel": "email", "recipient": signer.email, "acknowledgement": f"captured:{message.pk}"}
    assert entry.metadata == facts
    assert '"status":"notified"' in Delivery.objects.get().payload


def test_who_signed_while_the_mail_was_on_its_way_stays_signed() -> None:
    made = scene(signers=2, send_email=True)
    Application.objects.update(webhook_url="https://shop.example/hooks")
    signer = made.signers[0]
    taken = {"taken_at": clock.now().isoformat(), "acknowledgement": "250 Ok"}
    Signer.objects.filter(pk=signer.pk).update(invitation=taken)  # mailed, but not yet journaled
    sign(made)
    invite(signer.pk)
    signer.refresh_from_db()
    assert signer.status == "signed" and signer.notified_at
    assert made.events()[-2:] == ["signer.signed", "signer.notified"]
    assert '"status":"signed"' in Delivery.objects.get(event_type="signer.notified").payload


@pytest.mark.django_db(transaction=True)
def test_mails_once_though_two_workers_have_the_job(made: Scene) -> None:
    at_once(*[lambda: invite(made.signers[0].pk)] * 3)
    assert CapturedMessage.objects.count() == 1
    assert made.events().count("signer.notified") == 1


def test_is_not_notified_while_the_mail_server_takes_nothing(settings: Any, made: Scene) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    with pytest.raises(OSError, match="refused"):
        invite(made.signers[0].pk)
    signer = Signer.objects.get()
    assert (signer.status, signer.notified_at) == ("pending", None)
    assert made.events() == ["signature_request.created"]


def test_nobody_is_invited_who_may_not_sign() -> None:
    made = scene(signers=2, mode="sequential")
    invite(made.signers[1].pk)
    sign(made)
    invite(made.signers[0].pk)
    SignatureRequest.objects.update(expires_at=clock.now())
    invite(made.signers[1].pk)
    assert "signer.notified" not in made.events()
    assert not CapturedMessage.objects.filter(subject__contains="asks you").exists()


def test_the_summary_goes_to_every_signer_once_with_a_link_to_their_copy(client: Client, settings: Any) -> None:
    made = scene(signers=2, notify_signers_on_completion=True)
    sign(made, 0)
    sign(made, 1, locale="de")
    for _ in range(2):
        notify_completion(made.request.pk)
    mails = summaries().order_by("id")
    assert [message.to for message in mails] == [signer.email for signer in made.signers]
    assert "Everyone has signed" in mails[0].subject and "Alle haben" in mails[1].subject
    assert made.events().count("request.completion_notified") == 1
    entry = made.entries()[-1]
    assert entry.signer_id is None
    recipients = [signer.email for signer in made.signers]
    assert entry.metadata == {"channel": "email", "recipients": recipients, "kept": 2}, "there is no mail server"
    for signer, message in zip(made.signers, mails, strict=True):
        [link] = re.findall(rf"{re.escape(signing_url(signer))}\?ticket=\S+", message.text)
        assert f'href="{link}"' in message.html
        ticket = link.rpartition("=")[2]
        assert links.holds(signer, ticket)
        page = client.get(link.removeprefix(settings.PARAPH.public_url))
        assert 'data-state="already_signed"' in page.content.decode()


def test_an_organization_may_leave_the_link_out() -> None:
    made = scene(notify_signers_on_completion=True)
    Organization.objects.update(mails_copy_links=False)
    sign(made)
    notify_completion(made.request.pk)
    message = summaries().get()
    assert "://" not in message.text and "href" not in message.html


def test_no_summary_unless_asked_for(made: Scene) -> None:
    sign(made)
    assert jobs() == [("finalize", {"request_document_id": made.request_documents[0].pk})]


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


def test_words_of_the_sender_stand_in_the_mail_and_are_kept_no_longer_also_of_who_signs_first() -> None:
    made = invited(message="The first words.")
    asked(made, message="We move in on Monday.")
    send_reminder(made.signers[0].pk, 1)
    text = CapturedMessage.objects.get().text
    assert "> We move in on Monday." in text and "The first words." not in text
    assert Reminder.objects.get().message == "" and "Monday" not in str([jobs(), *(e.metadata for e in made.entries())])
    Reminder.objects.all().delete()
    asked(made, message="We move in on Monday.")
    sign(made)
    CapturedMessage.objects.all().delete()
    before = made.events()
    send_reminder(made.signers[0].pk, 1)
    assert made.events() == before and not CapturedMessage.objects.exists(), "who has signed gets none"
    assert Reminder.objects.get().message == "", "also where it is not mailed"


@pytest.mark.parametrize(
    ("later", "sentence"),
    [
        (timedelta(hours=11), "Reminded today at 12:45 UTC. You can remind again tomorrow."),
        (timedelta(hours=23), "Reminded yesterday at 12:45 UTC. You can remind again at the same time today."),
        (timedelta(hours=24), ""),
    ],
)
def test_the_sender_reads_when_and_when_again(later: timedelta, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_at = datetime(2026, 11, 29, 12, 45, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: asked_at + later)
    assert reminded_lately([Reminder(asked_at=asked_at)]) == sentence and reminded_lately([]) == ""


@pytest.mark.django_db(transaction=True)
def test_two_members_at_once_remind_once() -> None:
    made = invited()
    actor = author().actor
    answers = at_once(*[lambda: remind(made.scope(), made.request.pk, made.signers[0].pk, actor).number] * 4)
    assert sorted(answers, key=str) == [1, *["too_many_reminders"] * 3]


@pytest.mark.parametrize("what", ["sign", "end", "expire"])
def test_none_is_journaled_once_the_signer_has_signed_or_it_is_over(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reminder is journaled only if its signer can still act on it after the mail server has answered."""
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


DAY = timedelta(days=1)
At = Callable[[timedelta], None]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> At:
    """Return a function that sets the clock to so long after the test began."""
    start = clock.now()

    def move(after: timedelta) -> None:
        monkeypatch.setattr(clock, "now", lambda: start + after)

    move(timedelta(0))
    return move


def to_be_reminded(every_days: int | None = 3, at_most: int | None = 2, **of_request: Any) -> Scene:
    rule = {"remind_every_days": every_days, "reminders_at_most": at_most}
    made = invited(expires_at=clock.now() + 60 * DAY, **rule, **of_request)
    if made.request.mode == "parallel":
        invite(made.signers[1].pk)
        CapturedMessage.objects.all().delete()
    return made


def numbers(made: Scene, position: int = 0) -> list[int]:
    return [reminder.number for reminder in made.signers[position].reminders.order_by("number")]


def send_all() -> None:
    for reminder in Reminder.objects.filter(mail__isnull=True):
        send_reminder(reminder.signer_id, reminder.number)


def test_every_so_many_days_and_no_more_than_so_many(at: At) -> None:
    made = to_be_reminded(every_days=3, at_most=2)
    seen = []
    for day in range(15):
        at(day * DAY + timedelta(minutes=5))
        seen.append(remind_due())
        send_all()
    assert [day for day, reminded in enumerate(seen) if reminded] == [3, 6] and max(seen) == 2  # both signers
    assert jobs()[-1] == ("send_reminder", {"signer_id": made.signers[1].pk, "number": 2})
    last = made.entries()[-1]
    assert (last.event_type, last.metadata["reminder"]) == ("signer.notified", True), "as the button does"
    assert numbers(made) == numbers(made, 1) == [1, 2]
    assert CapturedMessage.objects.filter(to=made.signers[0].email).count() == 2
    assert not Signer.objects.exclude(remind_at=None).exists()


def test_the_five_by_hand_are_counted_apart(at: At) -> None:
    made = to_be_reminded(every_days=2, at_most=10)
    for day in range(5):
        at(day * DAY + timedelta(minutes=day))
        asked(made)
        send_all()
    at(10 * DAY)
    assert "already been reminded 5 times" in refused(made).message
    at(11 * DAY)
    assert remind_due() == 2
    assert [each.automatic for each in made.signers[0].reminders.order_by("number")] == [False] * 5 + [True]


def test_never_within_a_day_of_one_by_hand_nor_the_other_way_round(at: At) -> None:
    made = to_be_reminded(every_days=1, at_most=10)
    at(timedelta(hours=20))
    asked(made)
    send_all()
    at(timedelta(hours=25))
    assert (remind_due(), numbers(made)) == (1, [1])  # the other signer
    at(timedelta(hours=43))
    assert (remind_due(), numbers(made)) == (0, [1])
    at(timedelta(hours=45))
    assert remind_due() == 1 and numbers(made) == [1, 2]
    assert "You can remind again" in refused(made).message


def test_a_reminder_that_went_out_late_counts_from_then(at: At) -> None:
    made = to_be_reminded(every_days=1, at_most=10)
    at(DAY)
    remind_due()
    at(1.9 * DAY)
    send_all()
    at(2.1 * DAY)
    assert remind_due() == 0 and numbers(made) == [1]
    assert "You can remind again" in refused(made).message
    at(2.95 * DAY)
    assert remind_due() == 2


def test_while_one_is_not_out_there_is_no_other(at: At) -> None:
    made = to_be_reminded(every_days=1, at_most=10)
    for day in (1, 2.1, 3.2, 4.3):
        at(day * DAY)
        remind_due()
        assert numbers(made) == [1]
    at(5.4 * DAY)
    remind_due()
    assert numbers(made) == [1, 2], "its job was given up"


def test_of_two_that_wait_for_the_mail_server_one_goes_out(at: At) -> None:
    made = to_be_reminded(every_days=1, at_most=10)
    at(DAY)
    remind_due()
    at(2.1 * DAY)
    asked(made)
    for _ in range(2):  # a job may run twice
        for number in (1, 2):
            send_reminder(made.signers[0].pk, number)
    assert CapturedMessage.objects.filter(to=made.signers[0].email).count() == 1
    assert made.events().count("signer.notified") == 3 and numbers(made) == [1]


@pytest.mark.parametrize("over", ["signed", "ended", "expired"])
def test_nobody_who_has_signed_or_cannot_sign_any_more_and_where_none_were_asked_for(at: At, over: str) -> None:
    made, _ = to_be_reminded(), to_be_reminded(every_days=None, at_most=None)
    if over == "signed":
        for position in range(2):
            sign(made, position)
    if over == "ended":
        end_early(OPERATOR, made.request.pk, "Over")
    if over == "expired":
        made_over = SignatureRequest.objects.filter(pk=made.request.pk)
        made_over.update(expires_at=clock.now() + DAY)  # over, though no worker has marked it
    at(4 * DAY)
    assert remind_due() == 0
    assert not Reminder.objects.exists() and not Signer.objects.exclude(remind_at=None).exists()


def test_in_turn_only_the_one_whose_turn_it_is(at: At) -> None:
    made = to_be_reminded(mode="sequential")
    at(4 * DAY)
    assert remind_due() == 1 and numbers(made) == [1] and numbers(made, 1) == []
    sign(made)
    invite(made.signers[1].pk)
    at(6 * DAY)
    assert remind_due() == 0
    at(8 * DAY)
    assert remind_due() == 1 and numbers(made, 1) == [1]


def test_where_nothing_sends_mails_it_waits(at: At, settings: Any) -> None:
    made = to_be_reminded(environment="production")
    settings.PARAPH = settings.PARAPH.model_copy(update={"base_url": "https://sign.example.com"})
    at(4 * DAY)
    assert remind_due() == 0 and numbers(made) == []
    assert Signer.objects.filter(remind_at=clock.now() + DAY).count() == 2


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_remind_once(at: At) -> None:
    made = to_be_reminded()
    at(4 * DAY)
    assert sum(at_once(*[remind_due] * 3)) == 2
    assert numbers(made) == numbers(made, 1) == [1]
