"""What is kept of an address or a number where only its likeness matters."""

from functools import cache

from django.conf import settings

from paraph.kernel import tokens


def destination_hash(recipient: str) -> bytes:
    """A keyed hash of an address, whatever its case, or of a number in E.164 form (32 bytes)."""
    return tokens.keyed_hash(_key(), recipient.strip().lower().encode("utf-8", "replace"))


@cache
def _key() -> bytes:
    return tokens.derive(settings.MASTER_KEY, "destination")
