"""``paraph secret rotate`` and ``paraph secret status``."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction

from paraph.account_mail.mail_account import mails_under_earlier_secrets
from paraph.flow.sealing.context import key_folder, key_secrets
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.master_key import fingerprint
from paraph.kernel.secrets import Secrets
from paraph.keys.new_passphrase import encrypt_anew, not_yet_under
from paraph.operations.secret_rotation.columns import Found, second_factors_of_all, values_of
from paraph.tenants.installation import NOTICED_SECONDS, ONLY, agreed, secret_is_ours
from paraph.tenants.link_keys import with_keys_of
from paraph.tenants.models import Installation

_log = structlog.get_logger("paraph.operator")
_HELD_BY_CALLERS = timedelta(minutes=15)
"""Codes hold for ten minutes, addresses of downloads for fifteen."""
_PASSES = 5


def rotate() -> dict[str, Any]:
    """Puts the newest secret into use and encrypts everything anew with it; returns :func:`status`.

    Safe to repeat after a stop, and to run beside web servers and workers that have both secrets. Raises
    ``DomainError("configuration", …)`` where none of the secrets here is the one in use.
    """
    _require_ours()
    if _put_into_use():
        _log.info("operator", action="secret.rotated")
    _wait_until_noticed()
    for _ in range(_PASSES):
        if not sum(found.earlier for found in _look_through(renew=True).values()):
            break
    _renew_development_keys()
    return status()


def status() -> dict[str, Any]:
    """``in_use`` (``newest`` or ``earlier``), ``since``, ``left``: how many values an earlier secret still opens,
    ``unreadable``: those that no secret here opens, ``done``: whether the earlier secrets can be taken away, and
    ``links_until``: until when that would end links and codes that are on their way."""
    _require_ours()
    found = agreed(anew=True)
    values = _look_through(renew=False)
    left = {word: each.earlier for word, each in values.items()}
    left["account_mails"] = mails_under_earlier_secrets()
    left["development_keys"] = len(not_yet_under(key_folder(), key_secrets()[0]))
    newest = found.fingerprint == fingerprint(settings.SECRETS.newest)
    until = found.since + _HELD_BY_CALLERS if found.since and settings.SECRETS.several else None
    return {
        "in_use": "newest" if newest else "earlier",
        "since": clock.iso(found.since) if found.since else None,
        "left": left,
        "unreadable": [name for each in values.values() for name in each.unreadable],
        "done": newest and not sum(left.values()),
        "links_until": clock.iso(until) if until and until > clock.now() else None,
    }


def _require_ours() -> None:
    if not secret_is_ours():
        raise DomainError(
            "configuration",
            "The secret in use is not known here: set PARAPH_SECRET_KEY_PREVIOUS, or secret.previous in the data "
            "folder, to the one that the other machines have.",
        )


@transaction.atomic
def _put_into_use() -> bool:
    """Returns False where the newest secret is in use already."""
    row = Installation.objects.select_for_update().get(pk=ONLY)
    secrets: Secrets = settings.SECRETS
    if bytes(row.secret_fingerprint) == fingerprint(secrets.newest):
        return False
    replaced = secrets.known(bytes(row.secret_fingerprint))
    assert replaced  # _require_ours
    row.earlier_link_keys = with_keys_of(replaced, row.earlier_link_keys or [], secrets.newest)
    row.secret_fingerprint, row.secret_since = fingerprint(secrets.newest), clock.now()
    row.save()
    return True


def _wait_until_noticed() -> None:
    """Until no process uses an earlier secret for what it writes, so that one pass finds nearly everything."""
    found = agreed(anew=True)
    if found.since:
        noticed = found.since + timedelta(seconds=2 * NOTICED_SECONDS)
        time.sleep(min(max((noticed - clock.now()).total_seconds(), 0.0), 2 * NOTICED_SECONDS))


def _look_through(*, renew: bool) -> dict[str, Found]:
    parts: dict[str, Callable[[], Found]] = {
        "webhook_secrets": lambda: values_of("webhook_secrets", renew=renew),
        "second_factors": lambda: second_factors_of_all(renew=renew),
        "signatures": lambda: values_of("signatures", renew=renew),
    }
    return {word: look() for word, look in parts.items()}


def _renew_development_keys() -> None:
    secret, *others = key_secrets()
    for path in not_yet_under(key_folder(), secret):
        encrypt_anew(path, secret, others)
