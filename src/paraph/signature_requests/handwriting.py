"""Encrypting signatures and initials at rest, each for its signer, so that no other row can hold them.

Drawn signatures are biometric data. The database or a backup shows none of them without the secret of the service.
"""

import json
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet

from paraph.signature_requests.models import Signer

_EARLIER = Q(signature__isnull=False) | Q(initials__isnull=False)
_AT_ONCE = 500
PURPOSE = "handwriting"


def signature_of(signer: Signer) -> dict[str, Any]:
    """Returns the signature: ``{"type": "typed"}`` or ``{"type": "drawn", "strokes": …}``."""
    signature = _opened(signer, "signature")
    assert signature
    return signature


def initials_of(signer: Signer) -> dict[str, Any] | None:
    """Returns the initials in the form of :func:`signature_of`, None where the request wants none."""
    return _opened(signer, "initials")


def write(signer: Signer, signature: dict[str, Any], initials: dict[str, Any] | None) -> None:
    """Sets ``signature_encrypted`` and ``initials_encrypted``. Does not save the row."""
    signer.signature_encrypted = _sealed(signer, "signature", signature)
    signer.initials_encrypted = _sealed(signer, "initials", initials)


def encrypt_earlier() -> int:
    """Encrypts the rows that earlier versions stored unencrypted, 500 at a time; returns how many. Safe to repeat and
    to run beside everything else, as such rows never change."""
    done = last = 0
    while rows := list(_earlier().filter(id__gt=last)[:_AT_ONCE]):
        for signer in rows:
            write(signer, signer.signature, signer.initials)
            signer.signature = signer.initials = None
        Signer.objects.bulk_update(rows, ["signature", "initials", "signature_encrypted", "initials_encrypted"])
        done, last = done + len(rows), rows[-1].pk
    return done


def context(signer_id: int, name: str) -> bytes:
    """What ``signature`` or ``initials`` of a signer is encrypted for."""
    return f"{name} of signer {signer_id}".encode()


def _earlier() -> "QuerySet[Signer]":
    return Signer.objects.filter(_EARLIER).only("id", "signature", "initials").order_by("id")


def _opened(signer: Signer, name: str) -> dict[str, Any] | None:
    encrypted, plain = getattr(signer, f"{name}_encrypted"), getattr(signer, name)
    value: dict[str, Any] | None = plain
    if encrypted is not None:
        value = json.loads(settings.SECRETS.decrypt(PURPOSE, bytes(encrypted), context(signer.pk, name)))
    return value


def _sealed(signer: Signer, name: str, value: dict[str, Any] | None) -> bytes | None:
    if value is None:
        return None
    content = json.dumps(value, separators=(",", ":")).encode()
    sealed: bytes = settings.SECRETS.encrypt(PURPOSE, content, context(signer.pk, name))
    return sealed
