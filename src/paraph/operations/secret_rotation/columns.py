"""The columns that hold what the secret encrypted: value by value encrypted anew, in batches, beside everything else.

A value is replaced only where it is still the one that was read. What another process writes meanwhile with an earlier
secret, the next pass finds.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from paraph.signature_requests import handwriting
from paraph.signature_requests.models import Signer
from paraph.tenants import second_factors
from paraph.tenants.models import Application
from paraph.tenants.webhook_secrets import WEBHOOK_SECRETS

_AT_ONCE = 500


@dataclass
class Found:
    """How many values an earlier secret opens (``earlier``), and which no secret does (``unreadable``)."""

    earlier: int = 0
    unreadable: list[str] = field(default_factory=list)


class _Column(NamedTuple):
    rows: QuerySet[Any]
    word: str
    name: str
    purpose: str
    context: Callable[[int], bytes]


def _none(_id: int) -> bytes:
    return b""


def _of(name: str) -> Callable[[int], bytes]:
    return lambda signer_id: handwriting.context(signer_id, name)


_SIGNERS = Signer.objects.all()
_COLUMNS = {
    "webhook_secrets": [
        _Column(Application.objects.all(), "application", "webhook_secret_encrypted", WEBHOOK_SECRETS, _none),
        _Column(Application.objects.all(), "application", "next_webhook_secret_encrypted", WEBHOOK_SECRETS, _none),
    ],
    "signatures": [
        _Column(_SIGNERS, "signer", "signature_encrypted", handwriting.PURPOSE, _of("signature")),
        _Column(_SIGNERS, "signer", "initials_encrypted", handwriting.PURPOSE, _of("initials")),
    ],
}


def values_of(word: str, *, renew: bool) -> Found:
    """Looks through ``webhook_secrets`` or ``signatures``, and with ``renew`` encrypts them anew."""
    found = Found()
    for column in _COLUMNS[word]:
        for batch in _batches(column):
            with transaction.atomic():
                for pk, value in batch:
                    _look(column, pk, value, found, renew=renew)
    return found


def second_factors_of_all(*, renew: bool) -> Found:
    """Looks through the secrets of authenticator apps and the seeds of recovery codes."""
    found = Found()
    rows = Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN).order_by("pk").values_list("pk", flat=True)
    for pk in list(rows):
        with transaction.atomic():
            row = Authenticator.objects.select_for_update().filter(pk=pk).first()
            if row and _look_into(row, found) and renew:
                row.save(update_fields=["data"])
    return found


def _batches(column: _Column) -> Iterator[list[tuple[int, bytes]]]:
    rows = column.rows.exclude(**{column.name: None}).order_by("pk").values_list("pk", column.name)
    after = 0
    while batch := [(pk, bytes(value)) for pk, value in rows.filter(pk__gt=after)[:_AT_ONCE]]:
        yield batch
        after = batch[-1][0]


def _look(column: _Column, pk: int, value: bytes, found: Found, *, renew: bool) -> None:
    try:
        renewed = settings.SECRETS.renewed(column.purpose, value, column.context(pk))
    except ValueError:
        found.unreadable.append(f"{column.name} of {column.word} {pk}")
        return
    if renewed is None:
        return
    found.earlier += 1
    if renew:
        column.rows.filter(pk=pk, **{column.name: value}).update(**{column.name: renewed})


def _look_into(row: Authenticator, found: Found) -> bool:
    """Puts renewed values into the row's data; returns whether there were any."""
    changed = False
    for name in {"secret", "seed"} & row.data.keys():
        try:
            renewed = second_factors.renewed(row.data[name])
        except ValueError:
            found.unreadable.append(f"{name} of authenticator {row.pk}")
            continue
        if renewed is not None:
            row.data[name], changed = renewed, True
            found.earlier += 1
    return changed
