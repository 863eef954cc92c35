"""One-time codes: 6 digits, 10 minutes, newest only, single use, five guesses (specification 8).

A code is stored as a keyed hash over the signer, the digests of the documents they sign and the code, so that
it proves agreement to those documents and to no others. Every claim is a conditional UPDATE or stands under a
row lock: a hundred guesses at once consume five attempts, and one code signs once.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from django.conf import settings
from django.db import transaction
from django.db.models import F

from paraph.documents.models import Document
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.models import Channel, RequestDocument, Signer, SignerStatus

DIGITS = 6
LIFETIME = timedelta(minutes=10)
ATTEMPTS = 5
SENDS = 5
WINDOW = timedelta(minutes=10)


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
        locked = Signer.objects.select_for_update(no_key=True).get(pk=signer.pk)
        if locked.status == SignerStatus.SIGNED:
            raise DomainError("already_signed", "You have already signed; no code is needed any more.")
        earlier = OneTimeCode.objects.filter(signer=signer).first()
        began, sends = _window(earlier)
        now = clock.now()
        row = earlier or OneTimeCode(signer=signer)
        row.code_hash, row.channel, row.destination = code_hash, channel, destination
        row.created_at, row.expires_at = now, now + LIFETIME
        row.sends, row.window_began_at = sends, began
        row.attempts, row.sent_at, row.used_at = 0, None, None
        row.save(force_insert=earlier is None, force_update=earlier is not None)
    return Issued(code, code_hash, resend=row.ever_sent)


def mark_sent(signer: Signer, issued: Issued) -> None:
    """Makes the code usable, unless a newer one has replaced it. In the transaction that journals the sending:
    no signature can stand on a code whose sending the journal does not tell."""
    OneTimeCode.objects.filter(signer=signer, code_hash=issued.code_hash).update(sent_at=clock.now(), ever_sent=True)


def guess(signer: Signer, code: str) -> bytes:
    """Counts one attempt, for good, and returns the hash to :func:`consume` when the code is right.

    Call it outside of a transaction that may roll back. Raises ``DomainError`` ``too_many_attempts`` once five
    attempts were made, even for the right code, and ``invalid_otp`` for a wrong, outdated or missing one.
    """
    row = OneTimeCode.objects.filter(signer=signer).first()
    if row is None or not _count(row):
        raise _refusal(signer)
    guessed = _hash(signer, code)
    if not tokens.same(guessed, bytes(row.code_hash)):
        left = ATTEMPTS - OneTimeCode.objects.values_list("attempts", flat=True).get(pk=row.pk)
        raise DomainError("invalid_otp", f"The code is not right; attempts left: {left}.")
    return guessed


def consume(signer: Signer, code_hash: bytes) -> None:
    """Uses the code up, in the transaction of the signature. Raises ``DomainError("invalid_otp", …)`` when it
    was replaced or used in the meantime."""
    usable = OneTimeCode.objects.filter(signer=signer, code_hash=code_hash, used_at=None, sent_at__isnull=False)
    if not usable.update(used_at=clock.now()):
        raise DomainError("invalid_otp", "This code has been replaced by a newer one; use that one.")


def _window(earlier: OneTimeCode | None) -> tuple[datetime, int]:
    now = clock.now()
    if earlier is None or now >= earlier.window_began_at + WINDOW:
        return now, 1
    if earlier.sends >= SENDS:
        raise TooManySendsError(math.ceil((earlier.window_began_at + WINDOW - now).total_seconds()))
    return earlier.window_began_at, earlier.sends + 1


def _count(row: OneTimeCode) -> bool:
    """One attempt at exactly this code, if it may still be tried."""
    return bool(
        OneTimeCode.objects.filter(
            pk=row.pk,
            code_hash=row.code_hash,
            sent_at__isnull=False,
            used_at=None,
            expires_at__gt=clock.now(),
            attempts__lt=ATTEMPTS,
        ).update(attempts=F("attempts") + 1)
    )


def _refusal(signer: Signer) -> DomainError:
    row = OneTimeCode.objects.filter(signer=signer).first()
    if row and row.attempts >= ATTEMPTS and not row.used_at:
        return DomainError("too_many_attempts", "Too many wrong codes; ask for a new one.")
    return DomainError("invalid_otp", "There is no code to compare with, or its time is over; ask for a new one.")


def _hash(signer: Signer, code: str) -> bytes:
    documents = Document.objects.filter(
        pk__in=RequestDocument.objects.filter(placements__signer=signer).values("document_id")
    )
    digests = sorted(bytes(digest) for digest in documents.values_list("sha256", flat=True))
    return tokens.keyed_hash(_key(), signer.pk.to_bytes(8, "big"), b"".join(digests), code.encode("utf-8", "replace"))


@cache
def _key() -> bytes:
    return tokens.derive(settings.MASTER_KEY, "one-time-codes")
