"""The form of an address that a client may give, and which addresses belong to the public internet."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import ip_address, ip_network

import httpx

from paraph.kernel.errors import DomainError

_LONGEST = 2000
_LONGEST_HOST = 253
_LOWEST_FREE_PORT = 1024
_STANDARD_PORTS = {"http": 80, "https": 443}


def check_url(text: str, *, name: str, schemes: Sequence[str] = ("https", "http")) -> httpx.URL:
    """Parse an address and check that the service may call it. ``name``: the field that messages name
    (``callback_url``). Ports below 1024 belong to other protocols, except 80 and 443; user names in addresses would end
    up in logs. Whether the host is public is checked at each call, as its name may resolve to another address by then.
    Raise ``DomainError("validation_error", …)``."""
    if len(text) > _LONGEST:
        raise _refused(name, f"must have at most {_LONGEST} characters")
    url = _parse(text, name)
    if url.scheme not in schemes:
        raise _refused(name, f"must start with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    if not 0 < len(url.raw_host) <= _LONGEST_HOST or b"%" in url.raw_host:
        raise _refused(name, "names no host")
    if url.userinfo:
        raise _refused(name, "must not contain a user name or password")
    port = port_of(url)
    if port not in _STANDARD_PORTS.values() and not _LOWEST_FREE_PORT <= port < 2**16:
        raise _refused(name, f"names port {port}; only 80, 443 and ports from 1024 are called")
    return url


def port_of(url: httpx.URL) -> int:
    return _STANDARD_PORTS[url.scheme] if url.port is None else url.port


def origin_of(text: str) -> str:
    """Return ``scheme://host:port`` of an address that :func:`check_url` accepts; any other text unchanged."""
    try:
        url = check_url(text, name="")
    except DomainError:
        return text
    return f"{url.scheme}://{url.raw_host.decode('ascii')}:{port_of(url)}"


def ascii_address(text: str) -> str:
    """Return an address that :func:`check_url` accepts with its host as the DNS has it (RFC 5890): letters beyond ASCII
    may look like others, and ``xn--…`` does not."""
    return str(_parse(text, ""))


def ascii_host(text: str) -> str:
    """Return the host of an address as :func:`ascii_address` writes it, with the port if the address names one."""
    return _parse(text, "").netloc.decode("ascii")


@lru_cache(maxsize=256)  # each event of an application goes to the same address
def _parse(text: str, name: str) -> httpx.URL:
    if "\\" in text or any(character.isspace() for character in text):
        raise _refused(name, "contains white space or a backslash")
    try:
        return httpx.URL(text)
    except httpx.InvalidURL as error:
        raise _refused(name, "is not an address that can be read") from error


def _refused(name: str, reason: str) -> DomainError:
    return DomainError("validation_error", f"{name} {reason}.")


# IANA's special-purpose registries (RFC 6890), and the metadata services of clouds.
_REFUSED = {
    ip_network(block): meaning
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
        "2001::/23": "reserved or Teredo",
        "2001:db8::/32": "documentation",
        "2002::/16": "6to4",
        "2620:4f:8000::/48": "reserved",
        "3fff::/20": "documentation",
    }.items()
}
_GLOBAL_V6 = ip_network("2000::/3")  # all that is assigned; loopback, mapped, NAT64, ULA and multicast are outside


def reason_not_public(address: str) -> str:
    """Return the kind of an address that is not public, or "" for one of the public internet. IPv6 addresses that embed
    an IPv4 address (mapped, 6to4, Teredo, NAT64) are never public here: no receiver needs one."""
    parsed = ip_address(address)
    if parsed.version == 6 and parsed not in _GLOBAL_V6:
        return "not a global unicast address"
    return next((meaning for block, meaning in _REFUSED.items() if parsed in block), "")
