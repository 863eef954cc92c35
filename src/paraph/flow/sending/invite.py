"""Inviting a signer by e-mail, and reminding them: when asked, and when the time of a reminder has come (rules 3.2 and
14). ``notified`` means that the mail server has the message."""

import math
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from paraph.flow import events
from paraph.flow.events import lock_signer
from paraph.flow.messages import emails
from paraph.flow.messages.sent_once import READ_ALONG, DueEmail, mail_name, mail_once, queue_mail
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import EMAIL, is_refused
from paraph.queue.jobs import defer
from paraph.signature_requests.links import signing_url
from paraph.signature_requests.models import Reminder, SignatureRequest, Signer, SignerStatus
from paraph.signature_requests.signing import SigningEligibility, signing_eligibility
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import MailKind
from paraph.tenants.scope import TenantScope, existing, scoped

MOST_REMINDERS = 5
BETWEEN_REMINDERS = timedelta(days=1)

_USUALLY = timedelta(hours=1)  # how long a mail server may be away before the sender is told
_RUN_SECONDS = 15.0  # a worker that is asked to stop waits for the job
_AT_ONCE = 100
_JOBS_LIVE = timedelta(days=4)  # how long a reminder that is not out yet may still go out


def invite(signer_id: int) -> None:
    """Mail the signing URL to a signer who may sign now and was not invited before; do nothing for others. Safe to
    repeat. Raise ``OSError`` when the gateway does not take the mail, ``TooManyMessagesError`` where it is put off. The
    member who sent the request is told where it was not taken for an hour. A mail that is on its way while its link is
    replaced does not count."""
    replaced_links = Signer.objects.values_list("replaced_links", flat=True).get(pk=signer_id)
    signers = Signer.objects.filter(pk=signer_id, replaced_links=replaced_links)
    uninvited = signers.filter(invitation__isnull=True, notified_at=None, undelivered__isnull=True)
    try:
        mail_once(
            mail_name("invitation", signer_id, turn=replaced_links),
            lambda: _due_invitation(uninvited.select_related(*READ_ALONG).first()),
            lambda acknowledgement: signers.update(invitation=_taken(acknowledgement)),
        )
    except OSError:
        if signers.exists():
            _notify_sender_if_late(signer_id)
        raise
    _mark_notified(signer_id)


def _due_invitation(signer: Signer | None) -> DueEmail | None:
    if signer is None or signing_eligibility(signer) is not SigningEligibility.OPEN:
        return None
    return DueEmail(signer, emails.invitation(signer, signing_url(signer)))


def _taken(acknowledgement: str) -> dict[str, str]:
    return {"taken_at": clock.now().isoformat(), "acknowledgement": acknowledgement}


def _notify_sender_if_late(signer_id: int) -> None:
    signer = Signer.objects.select_related("request").get(pk=signer_id)
    earlier = signer.request.signers.filter(order__lt=signer.order).aggregate(last=Max("signed_at"))["last"]
    if clock.now() > max(filter(None, [signer.request.created_at, earlier])) + _USUALLY:
        queue_mail(signer.request, MailKind.UNDELIVERED, signer.pk, signer.replaced_links)


@transaction.atomic
def _mark_notified(signer_id: int) -> None:
    """Journal the invitation. A signer who signed while the mail was under way stays ``signed``."""
    signer = lock_signer(signer_id)
    if signer.notified_at or not signer.invitation:
        return
    signer.notified_at = parse_datetime(signer.invitation["taken_at"])
    if signer.status == SignerStatus.PENDING:
        signer.status = SignerStatus.NOTIFIED
        if signer.request.remind_every_days and signer.notified_at:
            signer.remind_at = signer.notified_at + timedelta(days=signer.request.remind_every_days)
    signer.save(update_fields=["notified_at", "status", "remind_at"])
    events.signer_notified(signer, signer.invitation["acknowledgement"])
    if signer.request.ended_early_at:  # while the mail was under way, so that nobody else tells the signer
        defer("tell_signer_of_end", signer_id=signer.pk)


@transaction.atomic
def show_signing_link(scope: TenantScope, actor: Actor, request_id: int, signer_id: int) -> str:
    """Return the address at which a signer may sign now, and note which member saw it. Raise ``not_found``;
    ``already_signed``, ``expired``."""
    signer = _own_signer(scope, request_id, signer_id)
    eligibility = signing_eligibility(signer)
    if eligibility in (SigningEligibility.SIGNED, SigningEligibility.EXPIRED):
        raise DomainError(eligibility.value, _("This link no longer works: there is nothing left to sign."))
    note(scope.organization_id, actor, Action.SIGNING_LINK_SHOWN, f"request {request_id}, signer {signer_id}")
    return signing_url(signer)


def _own_signer(scope: TenantScope, request_id: int, signer_id: int) -> Signer:
    requests = scoped(SignatureRequest, scope).filter(pk=request_id)
    signers = Signer.objects.select_related("request").filter(pk=signer_id, request__in=requests)
    return existing(signers, _("There is no such signer."))


class RemindedLatelyError(DomainError):
    """The signer has been reminded within a day, and may be again after ``retry_after`` seconds."""

    def __init__(self, made: Sequence[Reminder]) -> None:
        super().__init__("too_many_reminders", reminded_lately(made))
        self.retry_after = math.ceil((next_allowed(made) - clock.now()).total_seconds())


def reminded_lately(made: Iterable[Reminder]) -> str:
    """Say when a signer was reminded and may be again; "" where that is now. Times are in UTC."""
    again = next_allowed(made)
    if again <= clock.now():
        return ""
    facts = {"time": f"{again - BETWEEN_REMINDERS:%H:%M} UTC"}
    if again.date() > clock.now().date():
        return _("Reminded today at %(time)s. You can remind again tomorrow.") % facts
    return _("Reminded yesterday at %(time)s. You can remind again at the same time today.") % facts


@transaction.atomic
def remind(scope: TenantScope, request_id: int, signer_id: int, actor: Actor, message: str = "") -> Reminder:
    """Have a reminder mailed to a signer who may sign now and was invited: at most once a day, and five times in all,
    not counting those of :func:`remind_due`. Where the invitation was refused for good, it is sent again in its place.
    ``message``: what the member writes, for this mail alone.

    Raise ``not_found``; ``already_signed``, ``expired`` or ``not_your_turn``; ``too_many_reminders``, as
    :class:`RemindedLatelyError` where it is too early; ``delivery_failed`` where nothing sends mails.
    """
    _own_signer(scope, request_id, signer_id)
    signer = lock_signer(signer_id)
    request, eligibility = signer.request, signing_eligibility(signer)
    if eligibility is not SigningEligibility.OPEN:
        raise DomainError(eligibility.value, _sentence_for_sender(eligibility))
    if not (signer.notified_at or (request.send_email and signer.undelivered)):
        later, never = _("The invitation has not been sent yet."), _("This request sends its signers no mails.")
        raise DomainError("too_many_reminders", later if request.send_email else never)
    if is_refused(request.environment, EMAIL):
        raise DomainError("delivery_failed", _("this service has no mail server, so nobody would receive the mails."))
    reminder = _queue_reminder(signer, _made_for_next(signer), automatic=False, message=message)
    subject = f"request {request_id}, signer {signer_id}"
    note(scope.organization_id, actor, Action.SIGNER_REMINDED, subject, after={"number": reminder.number})
    return reminder


def _sentence_for_sender(eligibility: SigningEligibility) -> str:
    if eligibility is SigningEligibility.SIGNED:
        return _("The signer has already signed.")
    is_over = eligibility is SigningEligibility.EXPIRED
    return _("The request is over.") if is_over else _("It is not the signer's turn yet.")


def _made_for_next(signer: Signer) -> list[Reminder]:
    """Return the signer's reminders so far. Raise ``too_many_reminders`` where there may not be another now."""
    made = list(Reminder.objects.filter(signer=signer).order_by("number"))
    if sum(not each.automatic for each in made) >= MOST_REMINDERS:
        sentence = _("This signer has already been reminded %(count)d times, the maximum.")
        raise DomainError("too_many_reminders", sentence % {"count": MOST_REMINDERS})
    if next_allowed(made) > clock.now():
        raise RemindedLatelyError(made)
    return made


def _queue_reminder(signer: Signer, made: Sequence[Reminder], *, automatic: bool, message: str = "") -> Reminder:
    """Queue a reminder or, where the invitation was refused for good, the invitation."""
    number = made[-1].number + 1 if made else 1
    written: dict[str, Any] = {"message": message} if signer.notified_at else {"mail": {"invited": True}}
    facts = {"automatic": automatic, "asked_at": clock.now(), **written}
    reminder = Reminder.objects.create(signer=signer, number=number, **facts)
    Signer.objects.filter(pk=signer.pk).update(undelivered=None)
    task, more = ("send_reminder", {"number": number}) if signer.notified_at else ("invite", {})
    defer(task, signer_id=signer.pk, **more)
    return reminder


def next_allowed(made: Iterable[Reminder]) -> datetime:
    """Return the moment from which a signer may be reminded again: a day after the last reminder was asked for or
    mailed."""
    moments = [max(each.asked_at, _mailed_at(each) or each.asked_at) for each in made]
    return max(moments) + BETWEEN_REMINDERS if moments else datetime.min.replace(tzinfo=UTC)


def _mailed_at(reminder: Reminder) -> datetime | None:
    return parse_datetime(reminder.mail["taken_at"]) if reminder.mail and "taken_at" in reminder.mail else None


def send_reminder(signer_id: int, number: int) -> None:
    """Mail the reminder, then journal ``signer.notified`` as one. Do nothing for a signer who may not sign any more,
    and give up the reminder of one who got another within a day, as after an outage. What the sender wrote is kept no
    longer. Safe to repeat. Raise ``OSError`` when the gateway does not take the mail, ``TooManyMessagesError`` where it
    is put off."""
    replaced_links = Signer.objects.values_list("replaced_links", flat=True).get(pk=signer_id)
    reminders = Reminder.objects.filter(signer_id=signer_id, number=number, signer__replaced_links=replaced_links)
    name = mail_name("reminder", signer_id, number, turn=replaced_links)  # numbers begin anew with another link
    mail_once(
        name,
        lambda: _due_reminder(reminders.first()),
        lambda acknowledgement: reminders.update(mail=_taken(acknowledgement), message=""),
    )
    reminders.filter(signer__undelivered__mail=name).update(mail={"refused": True}, message="")
    _journal(signer_id, number)


def _due_reminder(reminder: Reminder | None) -> DueEmail | None:
    if reminder is None:
        return None
    others = Reminder.objects.filter(signer=reminder.signer_id).exclude(pk=reminder.pk)
    mailed = [moment for moment in map(_mailed_at, others) if moment]
    if not reminder.mail and mailed and clock.now() < max(mailed) + BETWEEN_REMINDERS:
        reminder.delete()
        return None
    signer = Signer.objects.select_related(*READ_ALONG).get(pk=reminder.signer_id)
    if reminder.mail or signing_eligibility(signer) is not SigningEligibility.OPEN:
        Reminder.objects.filter(pk=reminder.pk).update(message="")
        return None
    return DueEmail(signer, emails.reminder(signer, signing_url(signer), reminder.message))


@transaction.atomic
def _journal(signer_id: int, number: int) -> None:
    signer = lock_signer(signer_id)
    if signing_eligibility(signer) is not SigningEligibility.OPEN:
        return  # the signature ends the signer's part of the journal, although a mail was on its way
    reminder = Reminder.objects.filter(signer=signer, number=number, mail__has_key="acknowledgement").first()
    if reminder is None or not Reminder.objects.filter(pk=reminder.pk, journaled=False).update(journaled=True):
        return
    assert reminder.mail
    events.signer_notified(signer, reminder.mail["acknowledgement"], reminder=True)


def remind_due() -> int:
    """Queue, without being asked, the reminders whose time has come in requests that were created with ``reminders``,
    for at most 15 s, and return how many. Safe to repeat, to run twice at once, and to be killed: each signer is a
    transaction under a lock."""
    end, reminded = time.monotonic() + _RUN_SECONDS, 0
    while time.monotonic() < end:
        due = Signer.objects.filter(remind_at__lte=clock.now()).order_by("remind_at", "pk")
        found = list(due.values_list("pk", flat=True)[:_AT_ONCE])
        reminded += sum(_remind(signer_id) for signer_id in found)
        if len(found) < _AT_ONCE:
            break
    return reminded


@transaction.atomic
def _remind(signer_id: int) -> bool:
    signer, now = lock_signer(signer_id), clock.now()
    if signer.remind_at is None or signer.remind_at > now:
        return False
    made, is_queued = list(Reminder.objects.filter(signer=signer).order_by("number")), False
    in_vain = signer.undelivered or is_refused(signer.request.environment, EMAIL)
    left = (signer.request.reminders_at_most or 0) - sum(each.automatic for each in made)
    if left <= 0 or signing_eligibility(signer, now) is not SigningEligibility.OPEN:
        signer.remind_at = None
    elif in_vain or any(not each.mail and now < each.asked_at + _JOBS_LIVE for each in made):  # may still go out
        signer.remind_at = now + BETWEEN_REMINDERS
    elif now < next_allowed(made):
        signer.remind_at = next_allowed(made)
    else:
        _queue_reminder(signer, made, automatic=True)
        signer.remind_at = now + timedelta(days=signer.request.remind_every_days or 0) if left > 1 else None
        is_queued = True
    signer.save(update_fields=["remind_at"])
    return is_queued
