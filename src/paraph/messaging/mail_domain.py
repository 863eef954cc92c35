"""The domain of this service in mails: the host of its public address, in ASCII."""

from ipaddress import ip_address

import httpx
from django.conf import settings


def mail_domain() -> str:
    """Return the host of ``PARAPH_BASE_URL``, a name of other letters in its ``xn--`` form (RFC 5891); ``localhost``
    for an IP address, which is no domain."""
    host = _host()
    return host if _version(host) is None else "localhost"


def greeting() -> str:
    """Return what EHLO names: the domain, or an address in brackets (RFC 5321, 4.1.3)."""
    host = _host()
    version = _version(host)
    return host if version is None else f"[IPv6:{host}]" if version == 6 else f"[{host}]"


def _host() -> str:
    return httpx.URL(settings.PARAPH.public_url).raw_host.decode()


def _version(host: str) -> int | None:
    try:
        return ip_address(host).version
    except ValueError:
        return None
