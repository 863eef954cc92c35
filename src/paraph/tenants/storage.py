"""How much a tenant stores, and how much it may (docs/decisions/storage-limits.md)."""

from django.conf import settings

from paraph.database.prepared_statements import one_row
from paraph.tenants.models import Environment
from paraph.tenants.scope import Caller

_MIB = 1024 * 1024
_STORED = "SELECT bytes FROM organizations_storage WHERE organization_id = $1 AND environment = $2"


def stored_bytes(caller: Caller) -> int:
    """Of all files of the caller's organization in its environment."""
    row = one_row(_STORED, [b"%d" % caller.organization_id, caller.environment.encode()])
    return int(row[0] or 0) if row else 0


def storage_quota(environment: str) -> int | None:
    """Bytes that an organization may store in the environment; None for any number."""
    given = settings.PARAPH
    megabytes = given.sandbox_storage_mb if environment == Environment.SANDBOX else given.production_storage_mb
    return megabytes * _MIB or None
