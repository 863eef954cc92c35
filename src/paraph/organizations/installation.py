"""Telling a machine of another installation, or one that was given another secret, by a fingerprint in the database."""

from functools import cache

from django.conf import settings

from paraph.kernel import tokens
from paraph.kernel.master_key import fingerprint
from paraph.organizations.models import Application, Installation
from paraph.organizations.registration import webhook_secret

_ONLY = 1


def secret_is_ours() -> bool:
    """Whether the service's secret is the one that the database was first used with. The first who asks has it
    remembered, unless it does not open what is there already."""
    found = Installation.objects.filter(pk=_ONLY).first()
    if found is None:
        if not _opens_what_is_there():
            return False
        found, _ = Installation.objects.get_or_create(pk=_ONLY, defaults={"secret_fingerprint": _fingerprint()})
    return tokens.same(bytes(found.secret_fingerprint), _fingerprint())


def _opens_what_is_there() -> bool:
    """For databases of versions that remembered nothing."""
    newest = Application.objects.order_by("-pk").values_list("webhook_secret_encrypted", flat=True).first()
    try:
        return newest is None or bool(webhook_secret(bytes(newest)))
    except ValueError:
        return False


@cache
def _fingerprint() -> bytes:
    return fingerprint(settings.MASTER_KEY)
