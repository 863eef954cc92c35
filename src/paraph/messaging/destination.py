"""Hashing addresses and numbers where they are only compared."""

from functools import cache

from django.conf import settings

from paraph.kernel import tokens


def destination_hash(recipient: str) -> bytes:
    """Returns a keyed hash (32 bytes) of an address, ignoring its case, or of a number in E.164 form."""
    return tokens.keyed_hash(_key(), recipient.strip().lower().encode("utf-8", "replace"))


@cache
def _key() -> bytes:
    return tokens.derive(settings.MASTER_KEY, "destination")
