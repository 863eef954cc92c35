"""Hashing addresses and numbers where they are only compared."""

from django.conf import settings

from paraph.kernel import tokens


def destination_hash(recipient: str) -> str:
    """Return a keyed hash (32 digits) of an address, ignoring its case, or of a number in E.164 form."""
    named = recipient.strip().lower().encode("utf-8", "replace")
    return tokens.keyed_hash(settings.SECRETS.key("destination"), named).hex()[:32]
