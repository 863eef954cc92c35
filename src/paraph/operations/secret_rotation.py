"""``paraph secret rotate`` and ``paraph secret status``: encrypt each value anew, in batches, while the service runs.
A value is replaced only if it is still the one that was read. The next pass finds what another process has written
meanwhile with an earlier secret."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

import structlog
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from paraph.account_mail.mail_account import mails_under_earlier_secrets
from paraph.flow.sealing.context import key_folder, key_secrets
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.secrets import Secrets, fingerprint
from paraph.keys.development import encrypt_anew, not_yet_under
from paraph.signature_requests import marks
from paraph.signature_requests.fields import entry as field_values
from paraph.signature_requests.models import Signer
from paraph.tenants import accounts
from paraph.tenants.applications import WEBHOOK_SECRETS
from paraph.tenants.installation import NOTICED_SECONDS, ONLY, agreed, secret_is_ours, with_keys_of
from paraph.tenants.models import Application, Installation
from paraph.transparency import witnesses
from paraph.transparency.models import LogKey

_AT_ONCE = 500
_SIGNERS = Signer.objects.all()
_log = structlog.get_logger("paraph.operator")
_HELD_BY_CALLERS = timedelta(minutes=15)
"""The longest validity of what callers hold: codes are valid for ten minutes, addresses of downloads for fifteen."""
_PASSES = 5


@dataclass
class Found:
    """How many values an earlier secret opens (``earlier``), and which values no secret opens (``unreadable``)."""

    earlier: int = 0
    unreadable: list[str] = field(default_factory=list)


class _Column(NamedTuple):
    rows: QuerySet[Any]
    word: str
    name: str
    purpose: str
    context: Callable[[int], bytes] = lambda _id: b""


def _of(name: str) -> Callable[[int], bytes]:
    return lambda signer_id: marks.mark_context(signer_id, name)


_COLUMNS = {
    "webhook_secrets": [
        _Column(Application.objects.all(), "application", "webhook_secret_encrypted", WEBHOOK_SECRETS),
        _Column(Application.objects.all(), "application", "next_webhook_secret_encrypted", WEBHOOK_SECRETS),
    ],
    "signatures": [
        _Column(_SIGNERS, "signer", "signature_encrypted", marks.HANDWRITING, _of("signature")),
        _Column(_SIGNERS, "signer", "initials_encrypted", marks.HANDWRITING, _of("initials")),
    ],
    "log_key": [_Column(LogKey.objects.all(), "log key", "private_encrypted", witnesses.PURPOSE)],
    "field_values": [_Column(_SIGNERS, "signer", "fields_encrypted", field_values.PURPOSE, field_values.context)],
}


def values_of(word: str, *, renew: bool) -> Found:
    """Look through the values of one kind, such as ``webhook_secrets``, and with ``renew`` encrypt them anew."""
    found = Found()
    for column in _COLUMNS[word]:
        rows = column.rows.exclude(**{column.name: None}).order_by("pk").values_list("pk", column.name)
        after = 0
        while batch := list(rows.filter(pk__gt=after)[:_AT_ONCE]):
            with transaction.atomic():
                for pk, value in batch:
                    _look(column, pk, bytes(value), found, renew=renew)
            after = batch[-1][0]
    return found


def second_factors_of_all(*, renew: bool) -> Found:
    """Look through the secrets of authenticator apps and the seeds of recovery codes."""
    found = Found()
    rows = Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN).order_by("pk").values_list("pk", flat=True)
    for pk in list(rows):
        with transaction.atomic():
            row = Authenticator.objects.select_for_update().filter(pk=pk).first()
            if row and _look_into(row, found) and renew:
                row.save(update_fields=["data"])
    return found


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
    """Put renewed values into the row's data; return whether there were any."""
    changed = False
    for name in {"secret", "seed"} & row.data.keys():
        try:
            renewed = accounts.renew_factor(row.data[name])
        except ValueError:
            found.unreadable.append(f"{name} of authenticator {row.pk}")
            continue
        if renewed is not None:
            row.data[name], changed = renewed, True
            found.earlier += 1
    return changed


def rotate() -> dict[str, Any]:
    """Put the newest secret into use and encrypt everything anew with it; return :func:`status`. Safe to repeat after a
    stop, and to run beside web servers and workers that have both secrets. Raise ``DomainError("configuration", …)``
    where none of the secrets here is the one in use."""
    _require_ours()
    if _put_into_use():
        _log.info("operator", action="secret.rotated")
    _wait_until_noticed()
    for _ in range(_PASSES):
        if not sum(found.earlier for found in _look_through(renew=True).values()):
            break
    secret, *others = key_secrets()
    for path in not_yet_under(key_folder(), secret):
        encrypt_anew(path, secret, others)
    return status()


def status() -> dict[str, Any]:
    """Return ``in_use`` (``newest`` or ``earlier``); ``since``; ``left``: how many values an earlier secret opens;
    ``unreadable``: those that no secret here opens; ``done``: whether the earlier secrets can be removed; and
    ``links_until``: until when removing them would invalidate links and codes that were already sent."""
    _require_ours()
    found = agreed(anew=True)
    values = _look_through(renew=False)
    left = {word: each.earlier for word, each in values.items()}
    left["account_mails"] = mails_under_earlier_secrets()
    left["development_keys"] = len(not_yet_under(key_folder(), key_secrets()[0]))
    newest = bytes(found.secret_fingerprint) == fingerprint(settings.SECRETS.newest)
    until = found.secret_since + _HELD_BY_CALLERS if found.secret_since and settings.SECRETS.several else None
    return {
        "in_use": "newest" if newest else "earlier",
        "since": clock.iso(found.secret_since) if found.secret_since else None,
        "left": left,
        "unreadable": [name for each in values.values() for name in each.unreadable],
        "done": newest and not sum(left.values()),
        "links_until": clock.iso(until) if until and until > clock.now() else None,
    }


def _require_ours() -> None:
    if not secret_is_ours():
        sentence = "The secret in use is not known here: set PARAPH_SECRET_KEY_PREVIOUS, or secret.previous in the "
        raise DomainError("configuration", f"{sentence}data folder, to the one that the other machines have.")


@transaction.atomic
def _put_into_use() -> bool:
    """Put the newest secret into use. Return False where it is already."""
    row = Installation.objects.select_for_update().get(pk=ONLY)
    secrets: Secrets = settings.SECRETS
    if bytes(row.secret_fingerprint) == fingerprint(secrets.newest):
        return False
    replaced = secrets.known(bytes(row.secret_fingerprint))
    assert replaced  # _require_ours has made sure that the secret is known
    row.earlier_link_keys = with_keys_of(replaced, row.earlier_link_keys, secrets.newest)
    row.secret_fingerprint, row.secret_since = fingerprint(secrets.newest), clock.now()
    row.save()
    return True


def _wait_until_noticed() -> None:
    """Wait until no process writes values with an earlier secret, so that one pass finds nearly everything."""
    found = agreed(anew=True)
    if found.secret_since:
        noticed = found.secret_since + timedelta(seconds=2 * NOTICED_SECONDS)
        time.sleep(min(max((noticed - clock.now()).total_seconds(), 0.0), 2 * NOTICED_SECONDS))


def _look_through(*, renew: bool) -> dict[str, Found]:
    found = {word: values_of(word, renew=renew) for word in _COLUMNS}
    return found | {"second_factors": second_factors_of_all(renew=renew)}
