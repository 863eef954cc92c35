"""Wrong codes that were entered for the signers of a request, for whoever sent or operates it."""

from typing import Any

from django.db.models import Max

from paraph.journal.models import Entry
from paraph.kernel import clock
from paraph.otp.guesses import LOCK
from paraph.otp.models import OneTimeCode

WrongCodes = dict[str, Any]


def wrong_codes(request_id: int) -> dict[int, WrongCodes]:
    """By signer, where there are any: ``count``, since the request was made, and ``locked_until``, None while codes
    are sent and taken."""
    rows = OneTimeCode.objects.filter(signer__request=request_id, wrong_guesses__gt=0)
    return {row.signer_id: _told(row) for row in rows}


def by_entry(request_id: int) -> dict[int, WrongCodes]:
    """The same by the position in the journal of the newest code that was sent to the signer."""
    found = wrong_codes(request_id)
    sent = Entry.objects.filter(request=request_id, event_type="signer.otp_sent", signer__in=found)
    newest = sent.values_list("signer").annotate(Max("position"))
    return {position: found[signer_id] for signer_id, position in newest}


def _told(row: OneTimeCode) -> WrongCodes:
    until = row.locked_until
    locked = until is not None and clock.is_within(until, LOCK, clock.now())
    return {"count": row.wrong_guesses, "locked_until": clock.iso(until) if until and locked else None}
