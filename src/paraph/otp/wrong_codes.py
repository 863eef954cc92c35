"""Wrong codes that were entered for the signers of a request, as its client and operators see them."""

from typing import Any

from django.db.models import Max

from paraph.audit_trail.models import Entry, EventType
from paraph.kernel import clock
from paraph.otp.guesses import LOCK
from paraph.otp.models import OneTimeCode

WrongCodesSummary = dict[str, Any]


def wrong_codes(request_id: int) -> dict[int, WrongCodesSummary]:
    """Return by the id of each signer with wrong codes: ``count``, since the request was made, and ``locked_until``,
    which is None unless the signer is locked."""
    rows = OneTimeCode.objects.filter(signer__request=request_id, wrong_guesses__gt=0)
    return {row.signer_id: _summary(row) for row in rows}


def by_entry(request_id: int) -> dict[int, WrongCodesSummary]:
    """Return wrong codes by journal position: that of the newest ``signer.otp_sent`` entry of each signer who has
    any."""
    by_signer = wrong_codes(request_id)
    sent = Entry.objects.filter(request=request_id, event_type=EventType.OTP_SENT, signer__in=by_signer)
    newest = sent.values_list("signer").annotate(Max("position"))
    return {position: by_signer[signer_id] for signer_id, position in newest}


def _summary(row: OneTimeCode) -> WrongCodesSummary:
    until = row.locked_until
    locked = until is not None and clock.is_within(until, LOCK, clock.now())
    return {"count": row.wrong_guesses, "locked_until": clock.iso(until) if until and locked else None}
