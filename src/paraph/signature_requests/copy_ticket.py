"""Tickets with which a signer downloads their copy: a keyed hash over the signer and the time until which it holds.

A signing link that is opened again gives no copy by itself: it may have been passed on. Who has just signed has proven
who they are, so their page gets a ticket; the mail at the end carries another.
"""

from datetime import datetime, timedelta
from functools import cache

from django.conf import settings

from paraph.kernel import clock, tokens
from paraph.signature_requests.models import Signer

AFTER_SIGNING = timedelta(minutes=15)
IN_MAIL = timedelta(days=30)


def ticket(signer: Signer, lifetime: timedelta) -> str:
    """``{seconds since the epoch}.{43 characters of base64url}``."""
    until = int((clock.now() + lifetime).timestamp())
    return f"{until}.{_proof(signer, until)}"


def holds(signer: Signer, text: str) -> bool:
    """Whether this is a ticket of the signer whose time is not over."""
    until, _, proof = text.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) < 12):
        return False
    right = tokens.same(_proof(signer, int(until)).encode(), proof.encode("utf-8", "replace"))
    return right and clock.now() < datetime.fromtimestamp(int(until), tz=clock.now().tzinfo)


def _proof(signer: Signer, until: int) -> str:
    return tokens.base64url(tokens.keyed_hash(_key(), signer.pk.to_bytes(8, "big"), until.to_bytes(8, "big")))


@cache
def _key() -> bytes:
    return tokens.derive(settings.MASTER_KEY, "copy-ticket")
