"""Mailing the reminder that :mod:`paraph.flow.sending.remind` has asked for."""

from django.db import transaction

from paraph.flow import events
from paraph.flow.lock import lock_signer
from paraph.flow.messages import emails
from paraph.flow.messages.sent_once import DueEmail, mail_once
from paraph.kernel import clock
from paraph.signature_requests.models import Reminder, Signer
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility
from paraph.signature_requests.signing_token import signing_url


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
