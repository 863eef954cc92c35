"""Remind a signer: when somebody asks for it, and when the time of a reminder has come."""

import math
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from paraph.flow import events
from paraph.flow.lock import lock_signer
from paraph.flow.messages import emails
from paraph.flow.messages.sent_once import DueEmail, mail_once
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import EMAIL, is_refused
from paraph.queue.jobs import defer
from paraph.signature_requests.models import Reminder, SignatureRequest, Signer
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.signature_requests.signing_token import signing_url
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.scope import TenantScope, scoped

MOST_REMINDERS = 5
BETWEEN_REMINDERS = timedelta(days=1)


class RemindedLatelyError(DomainError):
    """The signer has been reminded within a day, and may be again after ``retry_after`` seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("too_many_reminders", _("A signer can be reminded at most once a day."))
        self.retry_after = retry_after


@transaction.atomic
def remind(scope: TenantScope, request_id: int, signer_id: int, actor: Actor) -> Reminder:
    """Have the invitation mailed again to a signer who may sign now and has had it: at most once a day, and five times
    in all, beside those of :mod:`paraph.flow.sending.remind_due`.

    Raises ``not_found``; ``already_signed``, ``expired`` or ``not_your_turn``; ``too_many_reminders``, as
    :class:`RemindedLatelyError` where it is too early;
    ``delivery_failed`` where nothing sends mails.
    """
    request = scoped(SignatureRequest, scope).filter(pk=request_id).first()
    if request is None or not Signer.objects.filter(pk=signer_id, request=request).exists():
        raise DomainError("not_found", _("There is no such signer."))
    signer = lock_signer(signer_id)
    eligibility = signing_eligibility(signer)
    if eligibility is not SigningEligibility.OPEN:
        raise DomainError(eligibility.value, _sentence_for_sender(eligibility))
    if not signer.notified_at:
        later, never = _("The invitation has not been sent yet."), _("This request sends its signers no mails.")
        raise DomainError("too_many_reminders", later if request.send_email else never)
    if is_refused(request.environment, EMAIL):
        raise DomainError("delivery_failed", _("this service has no mail server, so nobody would receive the mails."))
    number, now = _next_number(signer), clock.now()
    reminder = Reminder.objects.create(signer=signer, number=number, asked_at=now)
    defer("send_reminder", signer_id=signer.pk, number=reminder.number)
    subject = f"request {request_id}, signer {signer_id}"
    note(scope.organization_id, actor, Action.SIGNER_REMINDED, subject, after={"number": reminder.number})
    return reminder


def _sentence_for_sender(eligibility: SigningEligibility) -> str:
    if eligibility is SigningEligibility.SIGNED:
        return _("The signer has already signed.")
    is_over = eligibility is SigningEligibility.EXPIRED
    return _("The request is over.") if is_over else _("It is not the signer's turn yet.")


def _next_number(signer: Signer) -> int:
    made = list(Reminder.objects.filter(signer=signer).order_by("number"))
    if sum(not each.automatic for each in made) >= MOST_REMINDERS:
        sentence = _("This signer has already been reminded %(count)d times, the maximum.")
        raise DomainError("too_many_reminders", sentence % {"count": MOST_REMINDERS})
    left = next_allowed(made) - clock.now()
    if left > timedelta(0):
        raise RemindedLatelyError(math.ceil(left.total_seconds()))
    return made[-1].number + 1 if made else 1


def next_allowed(made: Iterable[Reminder]) -> datetime:
    """Return the moment from which a signer may be reminded again: a day after the last reminder, or after one that is
    due."""
    moments = [max(each.asked_at, _mailed_at(each) or each.asked_at) for each in made]
    return max(moments) + BETWEEN_REMINDERS if moments else datetime.min.replace(tzinfo=UTC)


def _mailed_at(reminder: Reminder) -> datetime | None:
    return parse_datetime(reminder.mail["taken_at"]) if reminder.mail and "taken_at" in reminder.mail else None


def send_reminder(signer_id: int, number: int) -> None:
    """Mail the invitation again, then journal ``signer.notified`` as a reminder. Do nothing for a signer who may not
    sign any more, and give up the reminder of one who got another within a day, as after an outage.

    Safe to repeat. Raises ``OSError`` when the gateway does not take the mail, ``TooManyMessagesError`` where it is put
    off.
    """
    reminders = Reminder.objects.filter(signer_id=signer_id, number=number)
    mail_once(
        f"reminder-{signer_id}-{number}",
        lambda: _due(reminders.first()),
        lambda acknowledgement: reminders.update(
            mail={"taken_at": clock.now().isoformat(), "acknowledgement": acknowledgement}
        ),
    )
    _journal(signer_id, number)


def _due(reminder: Reminder | None) -> DueEmail | None:
    if reminder is None:
        return None
    others = Reminder.objects.filter(signer=reminder.signer_id).exclude(pk=reminder.pk)
    if not reminder.mail and any(_is_recent(_mailed_at(other)) for other in others):
        reminder.delete()
        return None
    signer = Signer.objects.select_related(
        "request__organization", "request__branding_profile", "request__sent_by"
    ).get(pk=reminder.signer_id)
    if reminder.mail or signing_eligibility(signer) is not SigningEligibility.OPEN:
        return None
    return DueEmail(signer, emails.invitation(signer, signing_url(signer)))


def _is_recent(mailed_at: datetime | None) -> bool:
    return mailed_at is not None and clock.now() < mailed_at + BETWEEN_REMINDERS


@transaction.atomic
def _journal(signer_id: int, number: int) -> None:
    signer = lock_signer(signer_id)
    if signing_eligibility(signer) is not SigningEligibility.OPEN:
        return  # the signature ends the signer's part of the journal, although a mail was on its way
    reminder = Reminder.objects.filter(signer=signer, number=number, mail__isnull=False).first()
    if reminder is None or not Reminder.objects.filter(pk=reminder.pk, journaled=False).update(journaled=True):
        return
    assert reminder.mail
    events.signer_notified(signer, reminder.mail["acknowledgement"], reminder=True)
