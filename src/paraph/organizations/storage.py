"""How much a tenant stores, and how much it may (docs/decisions/storage-limits.md)."""

from django.conf import settings

from paraph.organizations.models import Environment, Storage
from paraph.organizations.scope import Caller, scoped

_MIB = 1024 * 1024


def stored_bytes(caller: Caller) -> int:
    """Of all files of the caller's organization in its environment."""
    return scoped(Storage, caller).values_list("bytes", flat=True).first() or 0


def storage_quota(environment: str) -> int | None:
    """Bytes that an organization may store in the environment; None for any number."""
    given = settings.PARAPH
    megabytes = given.sandbox_storage_mb if environment == Environment.SANDBOX else given.production_storage_mb
    return megabytes * _MIB or None
