"""The form of an address that a client may give."""

from collections.abc import Sequence
from functools import lru_cache

import httpx

from paraph.kernel.errors import DomainError

_LONGEST = 2000
_LONGEST_HOST = 253
_LOWEST_FREE_PORT = 1024
_STANDARD_PORTS = {"http": 80, "https": 443}


def check_url(text: str, *, name: str, schemes: Sequence[str] = ("https", "http")) -> httpx.URL:
    """Parse an address and check that the service may call it.

    ``name``: the field that messages name (``callback_url``). Ports below 1024 belong to other protocols, except 80 and
    443; user names in addresses would end up in logs. Where the host lies is checked at each call, since its name may
    resolve to another address by then. Raise ``DomainError("validation_error", …)``.
    """
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
    """``scheme://host:port`` of an address that :func:`check_url` accepts; any other text unchanged."""
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
    """Return the host of such an address likewise, with the port that it names."""
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
