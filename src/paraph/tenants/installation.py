"""What all machines of the installation agree on: which secret is in use.

The secret is known by its fingerprint, so that a machine of another installation, or one that was given another
secret, can be told.
"""

import time
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings

from paraph.kernel import tokens
from paraph.kernel.secrets import Secrets, fingerprint
from paraph.tenants.models import Application, Installation
from paraph.tenants.webhook_secrets import WEBHOOK_SECRETS

ONLY = 1
NOTICED_SECONDS = 5.0
"""After so long, a process that accepts several secrets knows which one is in use."""


class Agreed(NamedTuple):
    """The row, as this process last read it."""

    fingerprint: bytes | None = None
    since: datetime | None = None
    earlier_link_keys: tuple[dict[str, Any], ...] = ()


class _Read(NamedTuple):
    agreed: Agreed
    at: float


_read: list[_Read] = []  # one at most


def secret_is_ours() -> bool:
    """Return whether this process knows the secret in use. Where none is remembered yet, that of this process is from
    now on, unless it does not open what is there already."""
    if not Installation.objects.filter(pk=ONLY).exists():
        own = _secret_of_what_is_there()
        if own is None:
            return False
        Installation.objects.get_or_create(pk=ONLY, defaults={"secret_fingerprint": fingerprint(own)})
    found = agreed(anew=True).fingerprint
    return found is not None and settings.SECRETS.known(found) is not None


def fingerprint_in_use() -> bytes | None:
    """Return the fingerprint of the secret in use; None where none is remembered yet."""
    return agreed().fingerprint


def agreed(*, anew: bool = False) -> Agreed:
    """Return the row. It changes only while a secret is being rotated: a process that knows one secret alone reads it
    once."""
    if anew or not _read or (settings.SECRETS.several and time.monotonic() - _read[0].at > NOTICED_SECONDS):
        _read[:] = [_Read(_row(), time.monotonic())]
    return _read[0].agreed


def _row() -> Agreed:
    row = Installation.objects.filter(pk=ONLY).first()
    if row is None:
        return Agreed()
    return Agreed(bytes(row.secret_fingerprint), row.secret_since, tuple(row.earlier_link_keys or ()))


def _secret_of_what_is_there() -> bytes | None:
    """Return the secret that opens what is there, for databases of versions that remembered no secret."""
    secrets: Secrets = settings.SECRETS
    newest = Application.objects.order_by("-pk").values_list("webhook_secret_encrypted", flat=True).first()
    if newest is None:
        return secrets.newest
    return next((secret for secret in secrets.all if _opens(secret, bytes(newest))), None)


def _opens(secret: bytes, encrypted: bytes) -> bool:
    try:
        tokens.decrypt(settings.SECRETS.derived(secret, WEBHOOK_SECRETS), encrypted)
    except ValueError:
        return False
    return True
