"""Automatic reminders: whoever's turn it is, every so many days, so often, and never twice within a day."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from paraph.flow.ending import end_early
from paraph.flow.sending.invite import invite, remind, remind_due, send_reminder
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.models import Reminder, SignatureRequest, Signer
from paraph.tenants.admin_log import OPERATOR
from tests.drafts.author import author
from tests.factories import Scene, jobs, scene, sign
from tests.flow.test_sign import at_once

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
At = Callable[[timedelta], None]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> At:
    """Set the clock to so long after the test began."""
    start = clock.now()

    def move(after: timedelta) -> None:
        moment: datetime = start + after
        monkeypatch.setattr(clock, "now", lambda: moment)

    move(timedelta(0))
    return move


def invited(every_days: int | None = 3, at_most: int | None = 2, **of_request: Any) -> Scene:
    made = scene(
        signers=2,
        send_email=True,
        expires_at=clock.now() + 60 * DAY,
        remind_every_days=every_days,
        reminders_at_most=at_most,
        **of_request,
    )
    for signer in made.signers if made.request.mode == "parallel" else made.signers[:1]:
        invite(signer.pk)
    CapturedMessage.objects.all().delete()
    return made


def numbers(made: Scene, position: int = 0) -> list[int]:
    return list(
        Reminder.objects.filter(signer=made.signers[position]).order_by("number").values_list("number", flat=True)
    )


def by_hand(made: Scene) -> Reminder:
    return remind(made.scope(), made.request.pk, made.signers[0].pk, author().actor)


def send_all() -> None:
    for reminder in Reminder.objects.filter(mail__isnull=True):
        send_reminder(reminder.signer_id, reminder.number)


def test_every_so_many_days_and_no_more_than_so_many(at: At) -> None:
    made = invited(every_days=3, at_most=2)
    seen = []
    for day in range(15):
        at(day * DAY + timedelta(minutes=5))
        seen.append(remind_due())
        send_all()
    assert [day for day, reminded in enumerate(seen) if reminded] == [3, 6] and max(seen) == 2  # both signers
    assert numbers(made) == numbers(made, 1) == [1, 2]
    assert CapturedMessage.objects.filter(to=made.signers[0].email).count() == 2
    assert not Signer.objects.exclude(remind_at=None).exists()


def test_it_is_journaled_as_the_button_does(at: At) -> None:
    made = invited()
    at(4 * DAY)
    assert remind_due() == 2
    assert jobs()[-1] == ("send_reminder", {"signer_id": made.signers[1].pk, "number": 1})
    send_all()
    last = made.entries()[-1]
    assert (last.event_type, last.metadata["reminder"]) == ("signer.notified", True)


def test_the_five_by_hand_are_counted_apart(at: At) -> None:
    made = invited(every_days=2, at_most=10)
    for day in range(5):
        at(day * DAY + timedelta(minutes=day))
        by_hand(made)
        send_all()
    at(10 * DAY)
    with pytest.raises(DomainError, match="already been reminded 5 times"):
        by_hand(made)
    at(11 * DAY)
    assert remind_due() == 2
    assert [each.automatic for each in made.signers[0].reminders.order_by("number")] == [False] * 5 + [True]


def test_never_within_a_day_of_one_by_hand_nor_the_other_way_round(at: At) -> None:
    made = invited(every_days=1, at_most=10)
    at(timedelta(hours=20))
    by_hand(made)
    send_all()
    at(timedelta(hours=25))
    assert (remind_due(), numbers(made)) == (1, [1])  # the other signer
    at(timedelta(hours=43))
    assert (remind_due(), numbers(made)) == (0, [1])
    at(timedelta(hours=45))
    assert remind_due() == 1 and numbers(made) == [1, 2]
    with pytest.raises(DomainError, match="You can remind again"):
        by_hand(made)


def test_a_reminder_that_went_out_late_counts_from_then(at: At) -> None:
    made = invited(every_days=1, at_most=10)
    at(DAY)
    remind_due()
    at(1.9 * DAY)
    send_all()
    at(2.1 * DAY)
    assert remind_due() == 0 and numbers(made) == [1]
    with pytest.raises(DomainError, match="You can remind again"):
        by_hand(made)
    at(2.95 * DAY)
    assert remind_due() == 2


def test_while_one_is_not_out_there_is_no_other(at: At) -> None:
    made = invited(every_days=1, at_most=10)
    for day in (1, 2.1, 3.2, 4.3):
        at(day * DAY)
        remind_due()
        assert numbers(made) == [1]
    at(5.4 * DAY)
    remind_due()
    assert numbers(made) == [1, 2], "its job was given up"


def test_of_two_that_wait_for_the_mail_server_one_goes_out(at: At) -> None:
    made = invited(every_days=1, at_most=10)
    at(DAY)
    remind_due()
    at(2.1 * DAY)
    by_hand(made)
    for _ in range(2):  # a job may run twice
        for number in (1, 2):
            send_reminder(made.signers[0].pk, number)
    assert CapturedMessage.objects.filter(to=made.signers[0].email).count() == 1
    assert made.events().count("signer.notified") == 3 and numbers(made) == [1]


@pytest.mark.parametrize("over", ["signed", "ended", "expired"])
def test_nobody_who_has_signed_or_cannot_sign_any_more(at: At, over: str) -> None:
    made = invited()
    if over == "signed":
        for position in range(2):
            sign(made, position)
    if over == "ended":
        end_early(OPERATOR, made.request.pk, "Over")
    if over == "expired":
        SignatureRequest.objects.update(expires_at=clock.now() + DAY)  # and no worker has marked it
    at(4 * DAY)
    assert remind_due() == 0
    assert not Reminder.objects.exists() and not Signer.objects.exclude(remind_at=None).exists()


def test_in_turn_only_the_one_whose_turn_it_is(at: At) -> None:
    made = invited(mode="sequential")
    at(4 * DAY)
    assert remind_due() == 1 and numbers(made) == [1] and numbers(made, 1) == []
    sign(made)
    invite(made.signers[1].pk)
    at(6 * DAY)
    assert remind_due() == 0
    at(8 * DAY)
    assert remind_due() == 1 and numbers(made, 1) == [1]


def test_nobody_where_none_were_asked_for(at: At) -> None:
    invited(every_days=None, at_most=None)
    at(30 * DAY)
    assert remind_due() == 0


def test_where_nothing_sends_mails_it_waits(at: At, settings: Any) -> None:
    made = invited(environment="production")
    settings.PARAPH = settings.PARAPH.model_copy(update={"base_url": "https://sign.example.com"})
    at(4 * DAY)
    assert remind_due() == 0 and numbers(made) == []
    assert Signer.objects.filter(remind_at=clock.now() + DAY).count() == 2


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_remind_once(at: At) -> None:
    made = invited()
    at(4 * DAY)

    assert sum(at_once(*[remind_due] * 3)) == 2
    assert numbers(made) == numbers(made, 1) == [1]
