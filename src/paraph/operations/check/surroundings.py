"""What the service is connected to: mail and SMS gateways, the object store, the proxy in front (docs/proxies.md)."""

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from ipaddress import ip_address

from django.conf import settings

from paraph.documents.models import Document, DocumentStatus
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.messaging import email, sms
from paraph.messaging.gateways import EMAIL, SMS, is_refused
from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.server.middleware import PROBE
from paraph.storage import store
from paraph.tenants.models import Environment


def mail_gateway() -> Outcome:
    return _try_gateway(email.check_gateway, "mail", "mails", EMAIL)


def sms_gateway() -> Outcome:
    return _try_gateway(sms.check_gateway, "SMS", "SMS", SMS)


def _try_gateway(check: Callable[[], str], kind: str, messages: str, channel: str) -> Outcome:
    try:
        sentence = check()
    except (OSError, DomainError) as error:
        return failed(f"The {kind} gateway does not work: {_cause(error)}.")
    if sentence:
        return ok(sentence)
    if not is_refused(Environment.PRODUCTION, channel):
        return warning(f"No {kind} gateway is configured: nobody receives the {messages} in the inbox.")
    # A service without SMS may be what its operator wants; without mails nobody can sign in production.
    outcome, variable = (failed, "PARAPH_SMTP_URL") if kind == "mail" else (warning, "PARAPH_SMS_URL")
    return outcome(
        f"No {kind} gateway is configured, so {messages} of production are refused: set {variable}, or "
        "PARAPH_MAIL=captured to have them kept in the inbox, where nobody receives them."
    )


def _cause(error: Exception) -> str:
    text = error.message if isinstance(error, DomainError) else str(error)
    return (" ".join(text.split()) or type(error).__name__).rstrip(".")


def object_store() -> Outcome:
    """``storage``. Finds a full disk or a wrong bucket before the first upload does."""
    location = settings.PARAPH.storage_url or settings.DATA_DIR / "objects"
    key, content = f"check/{tokens.random_hex(8)}", tokens.random_bytes(32)
    began = time.perf_counter()
    try:
        store.put(key, content)
        returned = store.get(key)
        store.delete(key)
    except OSError as error:
        return failed(f"The object store {location} does not work: {error.strerror or _cause(error)}.")
    if returned != content:
        return failed(f"The object store {location} gives back something else than it was given.")
    milliseconds = (time.perf_counter() - began) * 1000
    return ok(f"The object store {location} keeps, returns and deletes an object ({milliseconds:.0f} ms).")


def storage_key() -> Outcome:
    """``storage key``: whether the newest upload can be opened, where it is encrypted."""
    ready = Document.objects.filter(status=DocumentStatus.READY, file_deleted_at=None)
    key = ready.order_by("-pk").values_list("object_key", flat=True).first()
    is_locked = False
    if key is not None:
        with suppress(FileNotFoundError):
            is_locked = store.lacks_key(key)
    if not is_locked:
        return ok("The newest upload needs no storage key that is not set here.")
    return failed(
        "Stored files are encrypted with a storage key that this machine lacks: set PARAPH_STORAGE_KEY, or "
        "PARAPH_STORAGE_KEY_PREVIOUS, to what the other machines have."
    )


_PROBE_SECONDS = 5.0
_UNSPECIFIED = ("0.0.0.0", "::")  # noqa: S104  compared, not bound
# Addresses for documentation, which belong to nobody.
_REMOTE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


def proxy() -> Outcome:
    configured = settings.PARAPH
    if configured.is_local:
        return ok("The service is for this machine alone and needs no proxy in front.")
    if configured.lacks_proxy:
        return failed(configured.lacks_proxy)
    if not configured.trusted_proxies:
        return warning(
            f"Others may reach {configured.public_url}, and PARAPH_TRUSTED_PROXIES names no proxy in front of the "
            "service: nothing keeps slow and silent clients away from it (docs/proxies.md)."
        )
    exposed = [address for address in _listening(configured.host) if ip_address(address).is_global]
    if exposed:
        around = "so clients can go around the proxy: set PARAPH_HOST."
        return warning(f"The service listens on {exposed[0]} itself, {around}")
    return _check_headers(configured.public_url)


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
        return warning(f"{url} cannot be reached from here, so the proxy was not looked at: {cause}.")
    if passed_on:
        return failed(f"The proxy at {url} passes headers with underscores on: clients can forge addresses.")
    return ok(f"The proxy at {url} answers {status} and lets no header with an underscore through.")


def _send_probe(url: str) -> tuple[int, bool]:
    """Return the status of the answer, and whether the service itself refused the probe."""
    request = urllib.request.Request(url, headers={PROBE: "1"})  # noqa: S310  the base URL of the settings
    try:
        with urllib.request.urlopen(request, timeout=_PROBE_SECONDS) as answer:  # noqa: S310
            return int(answer.status), False
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.code == 400 and _is_ours(refused.read(1000))


def _is_ours(content: bytes) -> bool:
    try:
        return bool(json.loads(content)["error"]["code"] == "bad_request")
    except (ValueError, KeyError, TypeError):
        return False
