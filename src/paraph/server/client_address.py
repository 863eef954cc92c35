"""The address of a client, behind trusted proxies or not."""

import re
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

from paraph.audit_trail.journal import Origin

Address = IPv4Address | IPv6Address

_WITH_PORT = re.compile(r"(?P<v4>[0-9.]+):\d{1,5}|\[(?P<v6>[^\]]+)\](?::\d{1,5})?", re.ASCII)


def client_address(request: HttpRequest) -> str:
    """Return the address of the peer or, while that is a trusted proxy, the one before it in ``X-Forwarded-For``, read
    from its end. "" where the server does not say."""
    address = _parse(request.META.get("REMOTE_ADDR", ""))
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    trusted = _networks(tuple(settings.PARAPH.trusted_proxies))
    while address and forwarded and any(address in network for network in trusted):
        before = _parse(forwarded.pop().strip())
        if before is None:
            break
        address = before
    return str(address or "")


def guarded_network(address: str) -> str:
    """Return the network that counts as one client: an IPv4 address itself, the /64 network of an IPv6 address."""
    parsed = _parse(address)
    return str(ip_network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else address


def origin(request: HttpRequest) -> Origin:
    """Return the client of a call, as the journal records it."""
    user_agent = request.headers.get("User-Agent", "").replace("\0", "")
    return Origin(client_address(request), user_agent)


def _parse(text: str) -> Address | None:
    """Parse an address, with the port that some proxies add (IPv6 then stands in brackets)."""
    with_port = _WITH_PORT.fullmatch(text)
    text = (with_port["v4"] or with_port["v6"]) if with_port else text
    try:
        address = ip_address(text.split("%", maxsplit=1)[0])  # a scope id has a meaning on its own machine only
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


@cache
def _networks(texts: tuple[str, ...]) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(text) for text in texts)
