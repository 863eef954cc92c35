"""The keys of what was mailed to signers, which hold longer than the secret that they derive from.

Signing links live as long as their requests, tickets of copies for 30 days. When a secret is replaced, the keys of its
links stay in the row of the installation, encrypted by the secret that follows: they open the links made with them,
and no others. A generation is the number of secrets before the one that a link was made with.
"""

import json
from base64 import b64decode, b64encode
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.conf import settings

from paraph.kernel import clock
from paraph.kernel.secrets import Secrets
from paraph.tenants.installation import Agreed, agreed

SIGNING, TICKET = "signing-token", "copy-ticket"
_SEALED_WITH = "link-keys"


def generation() -> int:
    """Return the generation of the links that are made now."""
    return len(agreed().earlier_link_keys)


def link_key(purpose: str, number: int) -> bytes:
    found = agreed()
    if number > len(found.earlier_link_keys):  # made by a process that knew sooner
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
    """Return the entries, and one with the keys that derive from the replaced secret, all encrypted for the following
    one."""
    keys = {purpose: settings.SECRETS.derived(replaced, purpose) for purpose in (SIGNING, TICKET)}
    found = [{**entry, "keys": _opened(entry["sealed"], number)} for number, entry in enumerate(entries)]
    found.append({"keys": keys, "replaced_at": clock.now().isoformat()})
    return [
        {"sealed": _sealed(entry["keys"], number, following), "replaced_at": entry["replaced_at"]}
        for number, entry in enumerate(found)
    ]


def _newest(found: Agreed, purpose: str) -> bytes:
    """Derive the key from the secret that was in use when the entries were read."""
    secrets: Secrets = settings.SECRETS
    return secrets.derived(secrets.known(found.fingerprint or b"") or secrets.newest, purpose)


def _sealed(keys: dict[str, bytes], number: int, secret: bytes) -> str:
    content = json.dumps({purpose: key.hex() for purpose, key in keys.items()}).encode()
    return b64encode(settings.SECRETS.encrypt_by(secret, _SEALED_WITH, content, _context(number))).decode()


@lru_cache(maxsize=64)
def _opened(sealed: str, number: int) -> dict[str, bytes]:
    content = settings.SECRETS.decrypt(_SEALED_WITH, b64decode(sealed), _context(number))
    return {purpose: bytes.fromhex(key) for purpose, key in json.loads(content).items()}


def _context(number: int) -> bytes:
    return f"link keys of generation {number}".encode()
