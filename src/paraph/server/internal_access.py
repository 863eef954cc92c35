"""Decides who may read what is meant for operators alone."""

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest

from paraph.kernel import tokens

_FORWARDED = ("X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via")


def is_insider(request: HttpRequest) -> bool:
    """Whoever has the token of ``PARAPH_METRICS_TOKEN`` (``Authorization: Bearer …``) or, where none is set, a place on
    this machine."""
    token = settings.PARAPH.metrics_token
    if token:
        given = request.headers.get("Authorization", "")
        return tokens.same(given.encode(errors="replace"), f"Bearer {token}".encode())
    # Behind a proxy on this machine every peer is local: a public service needs the token.
    forwarded = any(name in request.headers for name in _FORWARDED)
    return settings.PARAPH.is_local and not forwarded and _is_loopback(request.META.get("REMOTE_ADDR", ""))


def _is_loopback(address: str) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback
