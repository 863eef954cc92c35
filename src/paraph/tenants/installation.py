"""The secret in use, on which all machines of the installation must agree. It is remembered by its fingerprint, which
shows when a machine has another secret or belongs to another installation."""

import json
import time
from base64 import b64decode, b64encode
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.conf import settings

from paraph.kernel import clock, tokens
from paraph.kernel.secrets import Secrets, fingerprint
from paraph.tenants.applications import WEBHOOK_SECRETS
from paraph.tenants.models import Application, Installation

ONLY = 1
NOTICED_SECONDS = 5.0
"""How long it takes, at most, until a process that accepts several secrets knows which one is in use."""

_read: list[tuple[Installation, float]] = []  # at most one row, and when it was read


def secret_is_ours() -> bool:
    """Return whether this process knows the secret in use. If none is remembered yet, remember the secret of this
    process, unless it does not open the existing data."""
    if not Installation.objects.filter(pk=ONLY).exists():
        own = _secret_of_what_is_there()
        if own is None:
            return False
        Installation.objects.get_or_create(pk=ONLY, defaults={"secret_fingerprint": fingerprint(own)})
    return settings.SECRETS.known(bytes(agreed(anew=True).secret_fingerprint)) is not None


def fingerprint_in_use() -> bytes | None:
    """Return the fingerprint of the secret in use; None where none is remembered yet."""
    return bytes(agreed().secret_fingerprint) or None


def agreed(*, anew: bool = False) -> Installation:
    """Return the row, an empty one where there is none. It changes only while a secret is being rotated: a process that
    knows one secret alone reads it once."""
    if anew or not _read or (settings.SECRETS.several and time.monotonic() - _read[0][1] > NOTICED_SECONDS):
        row = Installation.objects.filter(pk=ONLY).first() or Installation()
        _read[:] = [(row, time.monotonic())]
    return _read[0][0]


def _secret_of_what_is_there() -> bytes | None:
    """Return the secret that opens the existing data, for databases of versions that did not remember the secret."""
    secrets: Secrets = settings.SECRETS
    newest = Application.objects.order_by("-pk").values_list("webhook_secret_encrypted", flat=True).first()
    if newest is None:
        return secrets.newest
    return next((secret for secret in secrets.all if _opens(secret, bytes(newest))), None)


def _opens(secret: bytes, encrypted: bytes) -> bool:
    try:
        tokens.decrypt(tokens.derive(secret, WEBHOOK_SECRETS), encrypted)
    except ValueError:
        return False
    return True


SIGNING, TICKET = "signing-token", "copy-ticket"
_SEALED_WITH = "link-keys"


def generation() -> int:
    """Return the generation of new links: how many secrets were in use before the current one."""
    return len(agreed().earlier_link_keys)


def link_key(purpose: str, number: int) -> bytes:
    found = agreed()
    if number > len(found.earlier_link_keys):  # made by a process that learned of the new secret earlier
        found = agreed(anew=True)
    if number < len(found.earlier_link_keys):
        return _opened(found.earlier_link_keys[number]["sealed"], number)[purpose]
    return _newest(found, purpose)


def link_keys_until(purpose: str) -> list[tuple[bytes, datetime | None]]:
    """Return the keys of all generations, the newest first, each with the time when it was replaced."""
    found = agreed()
    earlier = [
        (_opened(entry["sealed"], number)[purpose], datetime.fromisoformat(entry["replaced_at"]))
        for number, entry in enumerate(found.earlier_link_keys)
    ]
    return [(_newest(found, purpose), None), *reversed(earlier)]


def with_keys_of(replaced: bytes, entries: list[dict[str, Any]], following: bytes) -> list[dict[str, Any]]:
    """Return the entries and a new one, with the keys that derive from the ``replaced`` secret, all encrypted with the
    ``following`` secret."""
    keys = {purpose: tokens.derive(replaced, purpose) for purpose in (SIGNING, TICKET)}
    found = [{**entry, "keys": _opened(entry["sealed"], number)} for number, entry in enumerate(entries)]
    found.append({"keys": keys, "replaced_at": clock.now().isoformat()})
    return [
        {"sealed": _sealed(entry["keys"], number, following), "replaced_at": entry["replaced_at"]}
        for number, entry in enumerate(found)
    ]


def _newest(found: Installation, purpose: str) -> bytes:
    """Derive the key from the secret that was in use when the entries were read."""
    secrets: Secrets = settings.SECRETS
    return tokens.derive(secrets.known(bytes(found.secret_fingerprint)) or secrets.newest, purpose)


def _sealed(keys: dict[str, bytes], number: int, secret: bytes) -> str:
    content = json.dumps({purpose: key.hex() for purpose, key in keys.items()}).encode()
    return b64encode(tokens.encrypt(tokens.derive(secret, _SEALED_WITH), content, _context(number))).decode()


@lru_cache(maxsize=64)
def _opened(sealed: str, number: int) -> dict[str, bytes]:
    content = settings.SECRETS.decrypt(_SEALED_WITH, b64decode(sealed), _context(number))
    return {purpose: bytes.fromhex(key) for purpose, key in json.loads(content).items()}


def _context(number: int) -> bytes:
    return f"link keys of generation {number}".encode()
