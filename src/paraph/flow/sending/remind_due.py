"""Remind, without being asked, whoever's turn it is, where the request was created with ``reminders``."""

import time
from datetime import timedelta

from django.db import transaction

from paraph.flow.lock import lock_signer
from paraph.flow.sending.remind import BETWEEN_REMINDERS, next_allowed
from paraph.kernel import clock
from paraph.messaging.gateways import EMAIL, is_refused
from paraph.queue.jobs import defer
from paraph.signature_requests.models import Reminder, Signer
from paraph.signature_requests.signing_eligibility import SigningEligibility, signing_eligibility

_RUN_SECONDS = 15.0  # a worker that is asked to stop waits for the job
_AT_ONCE = 100
_JOBS_LIVE = timedelta(days=4)  # as long as a reminder that is not out yet may come to be


def remind_due(seconds: float = _RUN_SECONDS) -> int:
    """Queue the reminders whose time has come, for at most so many seconds, and return how many.

    Safe to repeat, to run twice at once, and to be killed: each signer is a transaction under a lock.
    """
    end, reminded = time.monotonic() + seconds, 0
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
    made = list(Reminder.objects.filter(signer=signer).order_by("number"))
    left = (signer.request.reminders_at_most or 0) - sum(each.automatic for each in made)
    if left <= 0 or signing_eligibility(signer, now) is not SigningEligibility.OPEN:
        signer.remind_at = None
    elif is_refused(signer.request.environment, EMAIL) or any(_is_under_way(each) for each in made):
        signer.remind_at = now + BETWEEN_REMINDERS
    elif now < next_allowed(made):
        signer.remind_at = next_allowed(made)
    else:
        number = made[-1].number + 1 if made else 1
        Reminder.objects.create(signer=signer, number=number, automatic=True, asked_at=now)
        defer("send_reminder", signer_id=signer.pk, number=number)
        signer.remind_at = now + timedelta(days=signer.request.remind_every_days or 0) if left > 1 else None
        signer.save(update_fields=["remind_at"])
        return True
    signer.save(update_fields=["remind_at"])
    return False


def _is_under_way(reminder: Reminder) -> bool:
    """Return whether its mail may still go out: it waits for the mail server or for a ceiling of messages."""
    return not reminder.mail and clock.now() < reminder.asked_at + _JOBS_LIVE
