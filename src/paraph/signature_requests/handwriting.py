"""Signatures and initials at rest: encrypted for the signer, so that no other row can hold them.

What a hand draws is biometric. Who reads the database or a backup of it without the secret of the service sees none.
"""

import json
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet

from paraph.kernel import tokens
from paraph.signature_requests.models import Signer

_EARLIER = Q(signature__isnull=False) | Q(initials__isnull=False)
_AT_ONCE = 500


def signature_of(signer: Signer) -> dict[str, Any]:
    """As it was signed with: ``{"type": "typed"}`` or ``{"type": "drawn", "strokes": …}``."""
    found = _opened(signer, "signature")
    assert found
    return found


def initials_of(signer: Signer) -> dict[str, Any] | None:
    """The same; None where the request wants none."""
    return _opened(signer, "initials")


def write(signer: Signer, signature: dict[str, Any], initials: dict[str, Any] | None) -> None:
    """Puts them into ``signature_encrypted`` and ``initials_encrypted`` of the row, which is not saved."""
    signer.signature_encrypted = _sealed(signer, "signature", signature)
    signer.initials_encrypted = _sealed(signer, "initials", initials)


def encrypt_earlier() -> int:
    """Encrypts what earlier versions kept as it was, a few rows at a time; returns how many. Safe to repeat and beside
    everything else, as such a row never changes."""
    done = last = 0
    while rows := list(_earlier().filter(id__gt=last)[:_AT_ONCE]):
        for signer in rows:
            write(signer, signer.signature, signer.initials)
            signer.signature = signer.initials = None
        Signer.objects.bulk_update(rows, ["signature", "initials", "signature_encrypted", "initials_encrypted"])
        done, last = done + len(rows), rows[-1].pk
    return done


def _earlier() -> "QuerySet[Signer]":
    return Signer.objects.filter(_EARLIER).only("id", "signature", "initials").order_by("id")


def _opened(signer: Signer, name: str) -> dict[str, Any] | None:
    encrypted, plain = getattr(signer, f"{name}_encrypted"), getattr(signer, name)
    found: dict[str, Any] | None = plain
    if encrypted is not None:
        found = json.loads(tokens.decrypt(_key(), bytes(encrypted), _context(signer, name)))
    return found


def _sealed(signer: Signer, name: str, value: dict[str, Any] | None) -> bytes | None:
    if value is None:
        return None
    content = json.dumps(value, separators=(",", ":")).encode()
    return tokens.encrypt(_key(), content, _context(signer, name))


def _context(signer: Signer, name: str) -> bytes:
    return f"{name} of signer {signer.pk}".encode()


@cache
def _key() -> bytes:
    return tokens.derive(settings.MASTER_KEY, "handwriting")
