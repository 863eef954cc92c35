"""Remind a signer: when a member asks for it, and when the time of a reminder has come."""

import math
from datetime import timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.flow import events
from paraph.flow.lock import lock_signer
from paraph.flow.messages import emails
from paraph.flow.messages.sent_once import DueEmail, mail_once
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import EMAIL, is_refused
from paraph.queue.defer import defer
from paraph.signature_requests.models import Reminder, SignatureRequest, Signer
from paraph.signature_requests.signing_eligibility import SigningEligibility, require_open, signing_eligibility
from paraph.signature_requests.signing_token import signing_url
from paraph.tenants.admin_log import log
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
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
    in all.

    Raises ``not_found``; ``already_signed``, ``expired`` or ``not_your_turn``; ``too_many_reminders``, as
    :class:`RemindedLatelyError` where it is too early;
    ``delivery_failed`` where nothing sends mails.
    """
    request = scoped(SignatureRequest, scope).filter(pk=request_id).first()
    if request is None or not Signer.objects.filter(pk=signer_id, request=request).exists():
        raise DomainError("not_found", _("There is no such signer."))
    signer = lock_signer(signer_id)
    require_open(signer)
    if not signer.notified_at:
        raise DomainError("too_many_reminders", _("The invitation has not been sent yet."))
    if is_refused(request.environment, EMAIL):
        raise DomainError("delivery_failed", _("this service has no mail server, so nobody would receive the mails."))
    number, now = _next_number(signer), clock.now()
    reminder = Reminder.objects.create(signer=signer, number=number, asked_at=now)
    defer("send_reminder", signer_id=signer.pk, number=reminder.number)
    subject = f"request {request_id}, signer {signer_id}"
    log.note(scope.organization_id, actor, Action.SIGNER_REMINDED, subject, after={"number": reminder.number})
    return reminder


def _next_number(signer: Signer) -> int:
    last = Reminder.objects.filter(signer=signer).order_by("-number").first()
    if last is None:
        return 1
    if last.number >= MOST_REMINDERS:
        sentence = _("This signer has already been reminded %(count)d times, the maximum.")
        raise DomainError("too_many_reminders", sentence % {"count": MOST_REMINDERS})
    left = last.asked_at + BETWEEN_REMINDERS - clock.now()
    if left > timedelta(0):
        raise RemindedLatelyError(math.ceil(left.total_seconds()))
    return last.number + 1


def send_reminder(signer_id: int, number: int) -> None:
    """Mail the invitation again, then journals ``signer.notified`` as a reminder. Does nothing for a signer who may not
    sign any more.

    Safe to repeat. Raises ``OSError`` when the gateway does not take the mail, ``TooManyMessagesError`` where it is put
    off.
    """
    reminders = Reminder.objects.filter(signer_id=signer_id, number=number)
    mail_once(
        f"reminder-{signer_id}-{number}",
        lambda: _due(reminders.get()),
        lambda acknowledgement: reminders.update(
            mail={"taken_at": clock.now().isoformat(), "acknowledgement": acknowledgement}
        ),
    )
    _journal(signer_id, number)


def _due(reminder: Reminder) -> DueEmail | None:
    signer = Signer.objects.select_related("request__organization", "request__branding_profile").get(
        pk=reminder.signer_id
    )
    if reminder.mail or signing_eligibility(signer) is not SigningEligibility.OPEN:
        return None
    return DueEmail(signer, emails.invitation(signer, signing_url(signer)))


@transaction.atomic
def _journal(signer_id: int, number: int) -> None:
    signer = lock_signer(signer_id)
    reminder = Reminder.objects.get(signer=signer, number=number)
    if reminder.journaled or not reminder.mail:
        return
    reminder.journaled = True
    reminder.save(update_fields=["journaled"])
    events.signer_notified(signer, reminder.mail["acknowledgement"], reminder=True)
