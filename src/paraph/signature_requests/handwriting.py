"""Encrypting signatures and initials at rest, each for its signer, so that no other row can hold them.

Drawn signatures are biometric data. The database or a backup shows none of them without the secret of the service.
"""

import json
from typing import Any

from django.conf import settings

from paraph.signature_requests.models import Signer

PURPOSE = "handwriting"


def signature_of(signer: Signer) -> dict[str, Any]:
    """Return the signature: ``{"type": "typed"}`` or ``{"type": "drawn", "strokes": …}``."""
    signature = _opened(signer, "signature")
    assert signature
    return signature


def initials_of(signer: Signer) -> dict[str, Any] | None:
    """Return the initials in the form of :func:`signature_of`, None where the request wants none."""
    return _opened(signer, "initials")


def write(signer: Signer, signature: dict[str, Any] | None, initials: dict[str, Any] | None) -> None:
    """Set ``signature_encrypted`` and ``initials_encrypted``, None for an approver. Does not save the row."""
    signer.signature_encrypted = _sealed(signer, "signature", signature)
    signer.initials_encrypted = _sealed(signer, "initials", initials)


def context(signer_id: int, name: str) -> bytes:
    """Return what ``signature`` or ``initials`` of a signer is encrypted for."""
    return f"{name} of signer {signer_id}".encode()


def _opened(signer: Signer, name: str) -> dict[str, Any] | None:
    encrypted = getattr(signer, f"{name}_encrypted")
    if encrypted is None:
        return None
    value: dict[str, Any] = json.loads(settings.SECRETS.decrypt(PURPOSE, bytes(encrypted), context(signer.pk, name)))
    return value


def _sealed(signer: Signer, name: str, value: dict[str, Any] | None) -> bytes | None:
    if value is None:
        return None
    content = json.dumps(value, separators=(",", ":")).encode()
    sealed: bytes = settings.SECRETS.encrypt(PURPOSE, content, context(signer.pk, name))
    return sealed
