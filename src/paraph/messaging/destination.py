"""Counting by destination without keeping addresses and numbers in the counters."""

from functools import cache

from django.conf import settings

from paraph.kernel import tokens


def destination_hash(recipient: str) -> bytes:
    """32 bytes that stand for an e-mail address, however it is capitalized, or for a phone number in E.164. Nobody
    without the server's secret learns from them whose they are."""
    return tokens.keyed_hash(_key(), recipient.strip().lower().encode("utf-8", "replace"))


@cache
def _key() -> bytes:
    return tokens.derive(settings.MASTER_KEY, "destination")
