"""Tickets with which a signer downloads their copy: a keyed hash over the signer and the time until which it holds.

A signing link that is opened again gives no copy by itself: it may have been passed on. Who has just signed has proven
who they are, so their page gets a ticket; the mail at the end carries another.
"""

from datetime import datetime, timedelta

from paraph.kernel import clock, tokens
from paraph.signature_requests.models import Signer
from paraph.tenants.installation import TICKET, link_keys_until

AFTER_SIGNING = timedelta(minutes=15)
IN_MAIL = timedelta(days=30)
_NOTICED = timedelta(minutes=1)  # until every process knows that a key was replaced


def ticket(signer: Signer, lifetime: timedelta) -> str:
    """``{seconds since the epoch}.{43 characters of base64url}``."""
    until = int((clock.now() + lifetime).timestamp())
    return f"{until}.{_proofs(signer, until)[0]}"


def holds(signer: Signer, text: str) -> bool:
    """Return whether this is a ticket of the signer whose time is not over."""
    until, _, proof = text.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) < 12):
        return False
    given = proof.encode("utf-8", "replace")
    right = any(tokens.same(expected.encode(), given) for expected in _proofs(signer, int(until)))
    return right and clock.now() < datetime.fromtimestamp(int(until), tz=clock.now().tzinfo)


def _proofs(signer: Signer, until: int) -> list[str]:
    """Return the proofs by each key, the newest first."""
    named = (signer.pk.to_bytes(8, "big"), until.to_bytes(8, "big"))
    return [tokens.base64url(tokens.keyed_hash(key, *named)) for key in keys_of(until)]


def keys_of(until: int) -> list[bytes]:
    """Return each key that may have made a ticket for so long, the newest first. A key that was replaced makes none any
    more."""
    return [
        key
        for key, replaced_at in link_keys_until(TICKET)
        if replaced_at is None or until <= (replaced_at + IN_MAIL + _NOTICED).timestamp()
    ]
