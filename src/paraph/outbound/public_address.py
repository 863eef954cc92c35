"""The addresses that belong to the public internet."""

from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_address

# IANA's special-purpose registries (RFC 6890), and the metadata services of clouds.
_REFUSED_V4 = {
    IPv4Network(block): meaning
    for block, meaning in {
        "0.0.0.0/8": "this network",
        "10.0.0.0/8": "private",
        "100.64.0.0/10": "shared with a carrier",
        "127.0.0.0/8": "loopback",
        "168.63.129.16/32": "cloud metadata",  # Azure's wire server, in public space
        "169.254.0.0/16": "link-local",
        "172.16.0.0/12": "private",
        "192.0.0.0/24": "reserved",
        "192.0.2.0/24": "documentation",
        "192.31.196.0/24": "reserved",
        "192.52.193.0/24": "reserved",
        "192.88.99.0/24": "6to4 relay",
        "192.168.0.0/16": "private",
        "192.175.48.0/24": "reserved",
        "198.18.0.0/15": "benchmarking",
        "198.51.100.0/24": "documentation",
        "203.0.113.0/24": "documentation",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "reserved",
    }.items()
}
_GLOBAL_V6 = IPv6Network("2000::/3")  # all that is assigned; loopback, mapped, NAT64, ULA, multicast lie outside
_REFUSED_V6 = {
    IPv6Network(block): meaning
    for block, meaning in {
        "2001::/23": "reserved or Teredo",
        "2001:db8::/32": "documentation",
        "2002::/16": "6to4",
        "2620:4f:8000::/48": "reserved",
        "3fff::/20": "documentation",
    }.items()
}


def reason_not_public(address: str) -> str:
    """Return what kind of address it is, or "" for one of the public internet.

    An IPv6 address that embeds an IPv4 one (mapped, 6to4, Teredo, NAT64) is refused whatever it embeds: no receiver
    needs such an address.
    """
    parsed = ip_address(address)
    if isinstance(parsed, IPv4Address):
        return _first_meaning(parsed)
    if parsed not in _GLOBAL_V6:
        return "not a global unicast address"
    return next((meaning for block, meaning in _REFUSED_V6.items() if parsed in block), "")


def _first_meaning(address: IPv4Address) -> str:
    return next((meaning for block, meaning in _REFUSED_V4.items() if address in block), "")
