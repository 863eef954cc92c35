"""The proxy in front of a public service (docs/proxies.md), and whether it drops header names with underscores."""

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from ipaddress import ip_address

from django.conf import settings

from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.server.middleware import PROBE

_SECONDS = 5.0
_UNSPECIFIED = ("0.0.0.0", "::")  # noqa: S104  compared, not bound
_REMOTE = (
    (socket.AF_INET, "192.0.2.1"),
    (socket.AF_INET6, "2001:db8::1"),
)  # addresses for documentation, which belong to nobody


def proxy() -> Iterator[Outcome]:
    configured = settings.PARAPH
    if configured.is_local:
        yield ok("proxy", "The service is for this machine alone and needs no proxy in front.")
        return
    if configured.lacks_proxy:
        yield failed("proxy", configured.lacks_proxy)
        return
    if not configured.trusted_proxies:
        yield warning(
            "proxy",
            f"Others may reach {configured.public_url}, and PARAPH_TRUSTED_PROXIES names no proxy in front of the "
            "service: nothing keeps slow and silent clients away from it (docs/proxies.md).",
        )
        return
    exposed = [address for address in _listening(configured.host) if ip_address(address).is_global]
    if exposed:
        sentence = f"The service listens on {exposed[0]} itself, so clients can go around the proxy: set PARAPH_HOST."
        yield warning("proxy", sentence)
        return
    yield _check_headers(configured.public_url)


def _listening(host: str) -> list[str]:
    if host in _UNSPECIFIED:
        return [address for family, remote in _REMOTE for address in _own_address(family, remote)]
    try:
        return [str(ip_address(host))]
    except ValueError:
        return []


def _own_address(family: socket.AddressFamily, remote: str) -> list[str]:
    """Return the source address of a packet to ``remote``, if any. Nothing is sent."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((remote, 9))
            return [str(probe.getsockname()[0])]
    except OSError:
        return []


def _check_headers(url: str) -> Outcome:
    try:
        status, passed_on = _send_probe(f"{url}/healthz")
    except OSError as error:
        cause = getattr(error, "reason", None) or error
        return warning("proxy", f"{url} cannot be reached from here, so the proxy was not looked at: {cause}.")
    if passed_on:
        return failed("proxy", f"The proxy at {url} passes headers with underscores on: clients can forge addresses.")
    return ok("proxy", f"The proxy at {url} answers {status} and lets no header with an underscore through.")


def _send_probe(url: str) -> tuple[int, bool]:
    """Return the status of the answer, and whether the service itself refused the probe."""
    request = urllib.request.Request(url, headers={PROBE: "1"})  # noqa: S310  the base URL of the settings
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
            return int(answer.status), False
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.code == 400 and _is_ours(refused.read(1000))


def _is_ours(content: bytes) -> bool:
    try:
        return bool(json.loads(content)["error"]["code"] == "bad_request")
    except (ValueError, KeyError, TypeError):
        return False
