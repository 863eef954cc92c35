"""Counting guesses at codes, so that nobody finds one by trying (rule 8, docs/decisions/codes.md).

Each code can be guessed at five times in the ten minutes that it lives; a signer with twenty wrong guesses in a day is
locked for the next day. Wrong guesses are also counted across requests, for each destination and for each organization.
While no code would be taken, none is sent. One conditional statement reads the limits, compares the code and counts: of
a hundred guesses at once, five are compared. It notes the time of each wrong one for the proof.
"""

import logging
import math
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Max

from paraph.audit_trail.models import Entry, EventType
from paraph.counts.counting import ADD_ONE
from paraph.database.base import one_row
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import DAY, HOUR
from paraph.messaging.gateways import destination_hash
from paraph.metrics import metrics
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.models import SignatureRequest, Signer


class GuessRefusedError(DomainError):
    """A guess that was wrong or was not looked at.

    ``attempts_left`` at the newest code is None unless the guess was wrong or none is left. ``retry_after`` is the
    number of seconds until a code is sent and taken again (``until``), 0 for now. ``locked`` says that it is the signer
    who is locked.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        attempts_left: int | None = None,
        until: datetime | None = None,
        locked: bool = False,
    ) -> None:
        super().__init__(code, message)
        self.attempts_left = attempts_left
        self.retry_after = max(1, math.ceil((until - clock.now()).total_seconds())) if until else 0
        self.locked = locked


log = logging.getLogger("paraph.otp")

WrongCodesSummary = dict[str, Any]

ATTEMPTS = 5
LIFETIME = timedelta(minutes=10)
LOCKED_AFTER = 20
LOCK = timedelta(days=1)
REPLACED = "This code has been replaced by a newer one; use that one."

_TODAY = "code.recent_end_at > %(now)s AND code.recent_end_at <= %(day)s + %(slip)s"
_SCOPES = f"""
    (VALUES ({{destination}}, {DAY}, %(day)s, %(of_destination)s), (%(scope)s, {HOUR}, %(hour)s, %(of_organization)s))
    AS bound (scope, seconds, ends_at, most) JOIN counts_count AS wrong USING (scope, seconds)
    WHERE wrong.count >= bound.most AND wrong.ends_at > %(now)s AND wrong.ends_at <= bound.ends_at + %(slip)s
"""
_SCOPES_OF_CODE = _SCOPES.format(destination="code.destination_scope")
# Comparing in the database leaks nothing by its duration: both sides are keyed hashes, which nobody can choose.
_ATTEMPT = f"""
WITH attempt AS (
    UPDATE otp_onetimecode AS code SET
        attempts = code.attempts + 1,
        expires_at = CASE WHEN code.code_hash <> %(guessed)s AND code.attempts + 1 >= {ATTEMPTS}
                     THEN %(now)s ELSE code.expires_at END,
        wrong_guesses = code.wrong_guesses + (code.code_hash <> %(guessed)s)::int,
        recent_wrong_guesses = CASE WHEN code.code_hash = %(guessed)s THEN code.recent_wrong_guesses
                               WHEN {_TODAY} THEN code.recent_wrong_guesses + 1 ELSE 1 END,
        recent_end_at = CASE WHEN code.code_hash = %(guessed)s OR {_TODAY} THEN code.recent_end_at ELSE %(day)s END,
        locked_until = CASE WHEN code.code_hash <> %(guessed)s AND {_TODAY}
                            AND code.recent_wrong_guesses + 1 >= {LOCKED_AFTER}
                       THEN %(day)s ELSE code.locked_until END
    WHERE code.signer_id = %(signer)s AND code.sent_at IS NOT NULL AND code.used_at IS NULL
      AND code.expires_at > %(now)s AND code.expires_at <= %(lifetime)s + %(slip)s
      AND code.attempts < {ATTEMPTS}
      AND (code.locked_until > %(now)s AND code.locked_until <= %(day)s + %(slip)s) IS NOT TRUE
      AND NOT EXISTS (SELECT FROM {_SCOPES_OF_CODE})
    RETURNING code.code_hash = %(guessed)s AS is_right, attempts, locked_until, destination_scope,
              coalesce(code.replaced_hash = %(guessed)s, false) AS is_replaced
), noted AS (
    INSERT INTO otp_refusedcode (signer_id, refused_at) SELECT %(signer)s, %(now)s FROM attempt WHERE NOT is_right
), counted AS (
    INSERT INTO counts_count AS held (scope, seconds, ends_at, count)
    SELECT bound.scope, bound.seconds, bound.ends_at, 1
    FROM attempt, LATERAL (VALUES (attempt.destination_scope, {DAY}, %(day)s), (%(scope)s, {HOUR}, %(hour)s))
                  AS bound (scope, seconds, ends_at)
    WHERE NOT attempt.is_right AND bound.scope <> ''
    {ADD_ONE}
    RETURNING held.count > CASE WHEN held.scope = %(scope)s THEN %(of_organization)s ELSE %(of_destination)s END
              AS is_beyond
)
SELECT is_right, attempts, locked_until, is_replaced, EXISTS (SELECT FROM counted WHERE is_beyond)
FROM attempt
"""  # noqa: S608  constants of this file
_STATE = f"""
    SELECT code.attempts, code.locked_until, (SELECT max(wrong.ends_at) FROM {_SCOPES_OF_CODE})
    FROM otp_onetimecode AS code WHERE code.signer_id = %(signer)s
"""  # noqa: S608  constants of this file
_CLOSED_UNTIL = f"""
    SELECT (SELECT locked_until FROM otp_onetimecode WHERE signer_id = %(signer)s),
           (SELECT max(wrong.ends_at) FROM {_SCOPES.format(destination="%(destination)s::text")})
"""  # noqa: S608  constants of this file


def count(signer: Signer, guessed: bytes) -> None:
    """Count a guess, for good. Raise :class:`GuessRefusedError`: ``invalid_otp`` unless ``guessed`` is the hash of the
    newest code, ``too_many_attempts`` while no guess is taken, not even the right one."""
    values = _values(signer) | {"guessed": guessed}
    row = one_row(_ATTEMPT, values)
    if row is None:
        metrics.guesses.inc("refused")
        raise _refusal(values)
    is_right, attempts, locked_until, is_replaced, is_beyond = row
    metrics.guesses.inc("right" if is_right else "wrong")
    if is_right:
        return
    if is_beyond:  # guesses at the same time may exceed the limits across requests
        raise _refusal(values)
    if locked_until == values["day"]:
        metrics.locks.inc()
        log.warning("signer %d is locked until %s: too many wrong codes", signer.pk, clock.iso(locked_until))
        message = f"The code is not right, and too many wrong ones were tried: {_none_until(locked_until)}."
        raise GuessRefusedError("invalid_otp", message, attempts_left=0, until=locked_until, locked=True)
    if attempts >= ATTEMPTS:
        message = "The code is not right, and no attempt is left, so it is void; ask for a new one."
        raise GuessRefusedError("invalid_otp", message, attempts_left=0)
    if is_replaced:  # the guess counted; the newest code is the one to enter
        raise GuessRefusedError("invalid_otp", REPLACED)
    left = ATTEMPTS - attempts
    raise GuessRefusedError("invalid_otp", f"The code is not right; attempts left: {left}.", attempts_left=left)


def require_open(signer: Signer, destination: str) -> None:
    """Raise :class:`GuessRefusedError` while no code sent there would be taken: while the signer is locked, or too many
    wrong codes were entered for the destination or in the organization."""
    values = _values(signer) | {"destination": destination_scope(signer.request, destination)}
    if refusal := _closed(*(one_row(_CLOSED_UNTIL, values) or (None, None))):
        raise refusal


def locked_until(signer: Signer) -> datetime | None:
    """Return until when no code of this signer is sent or taken; None if the signer is not locked."""
    until = OneTimeCode.objects.filter(signer=signer).values_list("locked_until", flat=True).first()
    return until if until and clock.is_within(until, LOCK, clock.now()) else None


def destination_scope(request: SignatureRequest, destination: str) -> str:
    """Return the scope in which wrong guesses at codes to this destination are counted. It names the environment, so
    that nobody with a free sandbox key can keep others from signing in production."""
    return f"wrong-codes-to:{request.environment}:{destination_hash(destination)}"


def _values(signer: Signer) -> dict[str, Any]:
    """Return all parameters of the statements but the guess. The ends are those of windows that begin now."""
    now = clock.now()
    request = signer.request
    return {
        "signer": signer.pk,
        "scope": f"wrong-codes-of:{request.environment}:{request.organization_id}",
        "now": now,
        "slip": clock.TOLERANCE,
        "lifetime": now + LIFETIME,
        "day": now + LOCK,
        "hour": now + timedelta(seconds=HOUR),
        "of_destination": settings.PARAPH.wrong_codes_per_destination,
        "of_organization": settings.PARAPH.wrong_codes_per_organization,
    }


def _refusal(values: dict[str, Any]) -> GuessRefusedError:
    """Return why a guess was not compared."""
    attempts, locked_until, full_until = one_row(_STATE, values) or (0, None, None)
    if refusal := _closed(locked_until, full_until):
        return refusal
    if attempts >= ATTEMPTS:
        message = "Too many wrong codes were tried, so the code is void; ask for a new one."
        return GuessRefusedError("too_many_attempts", message, attempts_left=0)
    return GuessRefusedError("invalid_otp", "There is no code to compare with, or its time is over; ask for a new one.")


def _closed(locked_until: datetime | None, full_until: datetime | None) -> GuessRefusedError | None:
    if locked_until and clock.is_within(locked_until, LOCK, clock.now()):
        message = (
            f"Too many wrong codes were tried: none is sent or taken until {clock.iso(locked_until)}. "
            "If that is too late, the sender can make a new request."
        )
        return GuessRefusedError("too_many_attempts", message, until=locked_until, locked=True)
    if full_until:
        message = f"Too many wrong codes were tried: {_none_until(full_until)}."
        return GuessRefusedError("too_many_attempts", message, until=full_until)
    return None


def _none_until(until: datetime) -> str:
    return f"no code is sent or taken until {clock.iso(until)}; ask for a new one after that"


def wrong_codes(request_id: int) -> dict[int, WrongCodesSummary]:
    """Return by the id of each signer with wrong codes: ``count``, since the request was made, and ``locked_until``,
    which is None unless the signer is locked."""
    found = {}
    for row in OneTimeCode.objects.filter(signer__request=request_id, wrong_guesses__gt=0):
        until, now = row.locked_until, clock.now()
        locked = clock.iso(until) if until and clock.is_within(until, LOCK, now) else None
        found[row.signer_id] = {"count": row.wrong_guesses, "locked_until": locked}
    return found


def by_entry(request_id: int) -> dict[int, WrongCodesSummary]:
    """Return the :func:`wrong_codes` of each signer who has any, by the journal position of the signer's newest
    ``signer.otp_sent`` entry."""
    by_signer = wrong_codes(request_id)
    sent = Entry.objects.filter(request=request_id, event_type=EventType.OTP_SENT, signer__in=by_signer)
    newest = sent.values_list("signer").annotate(Max("position"))
    return {position: by_signer[signer_id] for signer_id, position in newest}
