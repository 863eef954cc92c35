"""One-time codes: 6 digits, 10 minutes, newest only, single use, five guesses (specification 8).

A code is stored as a keyed hash over the signer, the digests of the documents they sign and the code, so that
it proves agreement to those documents and to no others. Every claim is a conditional UPDATE or stands under a
row lock: a hundred guesses at once consume five attempts, and one code signs once.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.db import transaction

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.otp.models import OneTimeCode
from paraph.rows.prepared import prepared_cursor
from paraph.rows.read import Compiled
from paraph.rows.write import insert
from paraph.signature_requests.models import Channel, Signer, SignerStatus
from paraph.signature_requests.signed_documents import signed_digests

DIGITS = 6
LIFETIME = timedelta(minutes=10)
ATTEMPTS = 5
SENDS = 5
WINDOW = timedelta(minutes=10)

_LOCKED = Compiled(lambda: Signer.objects.select_for_update(no_key=True))
_NEWEST = Compiled(OneTimeCode.objects.all)
_ATTEMPT = """
    UPDATE otp_onetimecode SET attempts = attempts + 1
    WHERE signer_id = %s AND sent_at IS NOT NULL AND used_at IS NULL AND expires_at > %s AND attempts < %s
    RETURNING code_hash, attempts
"""
_USE = """
    UPDATE otp_onetimecode SET used_at = %s
    WHERE signer_id = %s AND code_hash = %s AND used_at IS NULL AND sent_at IS NOT NULL RETURNING 1
"""
_SENT = """
    UPDATE otp_onetimecode SET sent_at = %s, ever_sent = true WHERE signer_id = %s AND code_hash = %s RETURNING 1
"""


class TooManySendsError(DomainError):
    """``retry_after``: seconds until another code may be asked for."""

    def __init__(self, retry_after: int) -> None:
        minutes = -(-retry_after // 60)
        super().__init__("rate_limited", f"{SENDS} codes were sent within 10 minutes; try again in {minutes} min.")
        self.retry_after = retry_after


@dataclass(frozen=True)
class Issued:
    """A code not yet sent. ``resend`` tells that this signer was sent one before."""

    code: str
    code_hash: bytes
    resend: bool


def issue(signer: Signer, channel: Channel, destination: str) -> Issued:
    """Makes the signer's newest code, which replaces any before it and cannot be used until :func:`mark_sent`.

    Raises :class:`TooManySendsError` after 5 codes in 10 minutes, ``already_signed`` when a signature won.
    """
    code = tokens.random_digits(DIGITS)
    code_hash = _hash(signer, code)
    with transaction.atomic():
        if _LOCKED.get(signer.pk).status == SignerStatus.SIGNED:
            raise DomainError("already_signed", "You have already signed; no code is needed any more.")
        earlier = _NEWEST.first(signer.pk)
        began, sends = _window(earlier)
        now = clock.now()
        row = earlier or OneTimeCode(signer=signer)
        row.code_hash, row.channel, row.destination = code_hash, channel, destination
        row.created_at, row.expires_at = now, now + LIFETIME
        row.sends, row.window_began_at = sends, began
        row.attempts, row.sent_at, row.used_at = 0, None, None
        if earlier is None:
            insert([row])
        else:
            row.save(force_update=True)
    return Issued(code, code_hash, resend=row.ever_sent)


def mark_sent(signer: Signer, issued: Issued) -> None:
    """Makes the code usable, unless a newer one has replaced it. In the transaction that journals the sending:
    no signature can stand on a code whose sending the journal does not tell."""
    _changed(_SENT, [clock.now(), signer.pk, issued.code_hash])


def guess(signer: Signer, code: str) -> bytes:
    """Counts one attempt, for good, and returns the hash to :func:`consume` when the code is right.

    Call it outside of a transaction that may roll back. Raises ``DomainError`` ``too_many_attempts`` once five
    attempts were made, even for the right code, and ``invalid_otp`` for a wrong, outdated or missing one.
    """
    counted = _changed(_ATTEMPT, [signer.pk, clock.now(), ATTEMPTS])
    if counted is None:
        raise _refusal(signer)
    code_hash, attempts = counted
    guessed = _hash(signer, code)
    if not tokens.same(guessed, bytes(code_hash)):
        raise DomainError("invalid_otp", f"The code is not right; attempts left: {ATTEMPTS - attempts}.")
    return guessed


def consume(signer: Signer, code_hash: bytes) -> None:
    """Uses the code up, in the transaction of the signature. Raises ``DomainError("invalid_otp", …)`` when it
    was replaced or used in the meantime."""
    if _changed(_USE, [clock.now(), signer.pk, code_hash]) is None:
        raise DomainError("invalid_otp", "This code has been replaced by a newer one; use that one.")


def _window(earlier: OneTimeCode | None) -> tuple[datetime, int]:
    now = clock.now()
    if earlier is None or now >= earlier.window_began_at + WINDOW:
        return now, 1
    if earlier.sends >= SENDS:
        raise TooManySendsError(math.ceil((earlier.window_began_at + WINDOW - now).total_seconds()))
    return earlier.window_began_at, earlier.sends + 1


def _changed(statement: str, values: list[Any]) -> tuple[Any, ...] | None:
    """What the statement returns of the code that it changed, None where it changed none."""
    with prepared_cursor() as cursor:
        cursor.execute(statement, values)
        changed: tuple[Any, ...] | None = cursor.fetchone()
    return changed


def _refusal(signer: Signer) -> DomainError:
    row = _NEWEST.first(signer.pk)
    if row and row.attempts >= ATTEMPTS and not row.used_at:
        return DomainError("too_many_attempts", "Too many wrong codes; ask for a new one.")
    return DomainError("invalid_otp", "There is no code to compare with, or its time is over; ask for a new one.")


def _hash(signer: Signer, code: str) -> bytes:
    digests = b"".join(sorted(signed_digests(signer)))
    return tokens.keyed_hash(_key(), signer.pk.to_bytes(8, "big"), digests, code.encode("utf-8", "replace"))


@cache
def _key() -> bytes:
    return tokens.derive(settings.MASTER_KEY, "one-time-codes")
