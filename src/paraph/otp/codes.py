"""One-time codes: 6 digits, 10 minutes, newest only, single use (rule 8).

A code is stored as a keyed hash over the signer, the digests of the documents they sign and the code, so that
it proves agreement to those documents and to no others. Every claim is a conditional UPDATE or stands under a
row lock: a hundred guesses at once consume five attempts (``paraph.otp.guesses``), and one code signs once.
"""

import math
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F

from paraph.database.base import one_row
from paraph.database.rows import insert
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.otp import guesses
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.links import ReplacedLinkError
from paraph.signature_requests.localized import translated
from paraph.signature_requests.models import Channel, Signer, SignerStatus
from paraph.signature_requests.signing import SigningEligibility, signed_digests
from paraph.signature_requests.values import takes_sms
from paraph.tenants.limits import allowance
from paraph.tenants.models import Environment

DIGITS = 6
MAX_SENDS = 5
WINDOW = timedelta(minutes=10)

_STATUS = "SELECT status, replaced_links FROM signature_requests_signer WHERE id = %s FOR NO KEY UPDATE"


class TooManySendsError(DomainError):
    """Too many codes were sent. ``retry_after`` is the number of seconds until another may be sent."""

    def __init__(self, retry_after: int) -> None:
        minutes = -(-retry_after // 60)
        told = f"{MAX_SENDS} codes were sent within 10 minutes; try again in {minutes} min."
        super().__init__("rate_limited", told, retry_after)


@dataclass(frozen=True)
class Issued:
    """A code that is not sent yet, for the signer's link that was replaced ``replaced_links`` times. ``resend``: the
    signer was sent a code before."""

    code: str
    code_hash: bytes
    channel: Channel
    destination: str
    made_at: datetime
    window_began_at: datetime
    replaced_links: int
    resend: bool


def six_digits(text: str) -> str:
    """Return the six digits of a code out of whatever was pasted: "244 283", "244-283", "Code: 244283", digits of any
    script. Text without exactly six digits comes back without its spaces, and is no code."""
    digits = "".join(str(unicodedata.digit(letter)) for letter in text if letter.isdecimal())
    return digits if len(digits) == 6 else "".join(text.split())


def channels(signer: Signer) -> list[Channel]:
    """Return the channel named at creation; without one, e-mail, and SMS too if a phone is known that takes codes and
    the plan allows it."""
    if signer.otp_channel:
        return [Channel(signer.otp_channel)]
    sms = signer.phone and takes_sms(signer.phone) and allowance(signer.request.organization.plan).sms
    return [Channel.EMAIL, Channel.SMS] if sms else [Channel.EMAIL]


def destination(signer: Signer, channel: str) -> tuple[Channel, str]:
    """Return the channel and the signer's address or number for it.

    Raise ``DomainError("validation_error", …)`` for a channel that this signer may not use.
    """
    allowed = channels(signer)
    if channel not in list(allowed):
        raise translated("validation_error", "field_choice", field="channel", values=", ".join(allowed))
    return Channel(channel), signer.phone if channel == Channel.SMS else signer.email


@contextmanager
def handed_over(signer: Signer, channel: Channel, destination: str) -> Iterator[Issued]:
    """Yield a code (:func:`issue`) that the block hands to a gateway. Where the block raises, the code does not count
    as sent."""
    issued = issue(signer, channel, destination)
    try:
        yield issued
    except Exception:
        same = OneTimeCode.objects.filter(signer=signer, window_began_at=issued.window_began_at, sends__gt=0)
        same.update(sends=F("sends") - 1)
        raise


def issue(signer: Signer, channel: Channel, destination: str) -> Issued:
    """Make a code and count it. Until :func:`mark_sent`, it cannot be used, and the signer's earlier one can.

    Raise :class:`TooManySendsError` after 5 codes in 10 minutes, ``too_many_attempts`` as
    :func:`paraph.otp.guesses.require_open` does, ``already_signed`` when the signer has signed meanwhile, ``replaced``
    when their link was replaced.
    """
    with transaction.atomic():
        status, links = one_row(_STATUS, [signer.pk]) or ("", -1)
        if status == SignerStatus.SIGNED:
            raise SigningEligibility.SIGNED.refusal()
        if links != signer.replaced_links:  # the code would go to an address or number that is no longer the signer's
            raise ReplacedLinkError(signer.request)
        guesses.require_open(signer, destination)
        earlier, now = OneTimeCode.objects.filter(signer=signer).first(), clock.now()
        row = earlier or OneTimeCode(signer=signer, expires_at=now)
        row.window_began_at, row.sends = _window(earlier, now)
        if earlier:
            row.save(update_fields=["window_began_at", "sends"])
        else:
            insert([row])
    code = _derived(signer, now)[0] if _is_shown(signer) else tokens.random_digits(DIGITS)
    return Issued(code, _hashes(signer, code)[0], channel, destination, now, row.window_began_at, links, row.ever_sent)


def shown_code(code: OneTimeCode) -> str:
    """Return the code in the sandbox, where the page shows it (rule 8.1), also when the page is loaded again: the code
    follows from the secret and the time, and is stored nowhere. Return "" in production, whose codes are random."""
    if not _is_shown(code.signer):
        return ""
    stored = bytes(code.code_hash)
    derived = _derived(code.signer, code.created_at)
    matches = (each for each in derived if any(tokens.same(stored, made) for made in _hashes(code.signer, each)))
    return next(matches, "")


def _is_shown(signer: Signer) -> bool:
    return signer.request.environment == Environment.SANDBOX


def _derived(signer: Signer, made_at: datetime) -> list[str]:
    """Return the sandbox code by each secret, first the secret in use."""
    made = f"{signer.pk} {made_at.timestamp()}".encode()
    keys = settings.SECRETS.keys("sandbox-codes")
    return [f"{int.from_bytes(tokens.keyed_hash(key, made)[:8], 'big') % 10**DIGITS:0{DIGITS}d}" for key in keys]


def mark_sent(signer: Signer, issued: Issued) -> None:
    """Have the code replace the signer's earlier one, so that it can be used, unless their link was replaced. Run it in
    the transaction that journals the sending, so that no code can be used whose sending the journal does not show."""
    codes = OneTimeCode.objects.filter(signer=signer, signer__replaced_links=issued.replaced_links)
    codes.update(
        code_hash=issued.code_hash, replaced_hash=F("code_hash"), channel=issued.channel, used_at=None, attempts=0,
        destination=issued.destination, destination_scope=guesses.destination_scope(signer.request, issued.destination),
        created_at=issued.made_at, expires_at=issued.made_at + guesses.LIFETIME, sent_at=clock.now(), ever_sent=True,
    )  # fmt: skip


def withdraw(signer: Signer) -> None:
    """Void the signer's code, in the transaction that replaces their link, and forget where it went, and the lock that
    wrong codes led to. The counts of the address or number, of the organization and of all wrong codes stay."""
    OneTimeCode.objects.filter(signer=signer).update(
        code_hash=b"", replaced_hash=None, destination="", destination_scope="", sent_at=None, attempts=0,
        recent_wrong_guesses=0, recent_end_at=None, locked_until=None,
    )  # fmt: skip


def guess(signer: Signer, code: str) -> bytes:
    """Count one attempt, for good, and return the hash to :func:`consume` if the code is right.

    Must run outside of a transaction that may roll back. Raise ``DomainError`` as :func:`paraph.otp.guesses.count`
    does.
    """
    guessed = _guessed(signer, code)
    guesses.count(signer, guessed)
    return guessed


def consume(signer: Signer, code_hash: bytes) -> None:
    """Use the code up, in the transaction of the signature. Raise ``DomainError("invalid_otp", …)`` if it was replaced
    or used meanwhile."""
    codes = OneTimeCode.objects.filter(signer=signer, code_hash=code_hash, used_at=None, sent_at__isnull=False)
    if not codes.update(used_at=clock.now()):
        raise DomainError("invalid_otp", guesses.REPLACED)


def forget_used() -> int:
    """Delete the codes by which somebody signed over a day ago, and return how many. Codes of signers who entered wrong
    ones stay: their counts are stated with the proof."""
    return OneTimeCode.objects.filter(used_at__lt=clock.now() - timedelta(days=1), wrong_guesses=0).delete()[0]


def _window(earlier: OneTimeCode | None, now: datetime) -> tuple[datetime, int]:
    if earlier is None or not clock.is_within(earlier.window_began_at + WINDOW, WINDOW, now):
        return now, 1
    if earlier.sends >= MAX_SENDS:
        raise TooManySendsError(math.ceil((earlier.window_began_at + WINDOW - now).total_seconds()))
    return earlier.window_began_at, earlier.sends + 1


def _guessed(signer: Signer, code: str) -> bytes:
    """Return the hash of the code with the secret that the stored hash was made with. Secrets can differ only while one
    is being rotated."""
    hashes = _hashes(signer, code)
    stored = OneTimeCode.objects.filter(signer=signer).first() if len(hashes) > 1 else None
    kept = (bytes(stored.code_hash), bytes(stored.replaced_hash or b"")) if stored else ()
    return next((guessed for each in kept for guessed in hashes if tokens.same(guessed, each)), hashes[0])


def _hashes(signer: Signer, code: str) -> list[bytes]:
    """Return the hash of the code with each secret, first the secret in use."""
    digests = b"".join(sorted(signed_digests(signer)))
    hashed = (signer.pk.to_bytes(8, "big"), digests, code.encode("utf-8", "replace"))
    return [tokens.keyed_hash(key, *hashed) for key in settings.SECRETS.keys("one-time-codes")]
