"""Holding an idempotency key while its call is answered.

An advisory lock of the connection says that a call is at work: it ends with the process that held it, so a killed one
leaves its key free. The row is written in the transaction that creates, so what it names exists and is complete.
A call that finds the row needs no lock, so the lock of a call that created is released by the next on its connection.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import DatabaseError, IntegrityError, InterfaceError
from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from paraph.database.base import one_row
from paraph.idempotency.models import KEPT, IdempotencyKey
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.scope import TenantScope, scoped

_HOLD = """
SELECT pg_advisory_unlock_all(), pg_try_advisory_lock(%(lock)s::bigint),
    known.content_hash, known.resource_id, known.created_at >= %(oldest)s
FROM (SELECT) AS always LEFT JOIN idempotency_idempotencykey AS known
    ON known.organization_id = %(organization_id)s AND known.environment = %(environment)s AND known.path = %(path)s
    AND known.key_hash = %(key_hash)s
"""
_BATCH = 1000
_LET_GO = "SELECT pg_advisory_unlock(%(lock)s::bigint)"

ExtraRows = Callable[[int], list[Model]]
"""Makes the rows to insert with a new resource, from its id."""


class Made(NamedTuple):
    """What was created under a key in the last 24 hours."""

    content_hash: bytes
    resource_id: int


@dataclass(frozen=True)
class HeldKey:
    """A key that no other call holds, and what was found under it."""

    scope: TenantScope
    path: str
    key_hash: bytes
    made: Made | None

    def made_before(self, content: bytes) -> int | None:
        """Return the id of what was created under the key in the last 24 hours; ``None`` for nothing. ``content``: the
        SHA-256 of what is asked for. Raise ``idempotency_key_reused`` where that was something else."""
        if self.made is None:
            return None
        if self.made.content_hash != content:
            message = _("The Idempotency-Key was used with other content. Use a new key for a new call.")
            raise DomainError("idempotency_key_reused", message)
        return self.made.resource_id

    def extra_rows(self, content: bytes) -> ExtraRows:
        """Return a function that makes the row of the key, to be written with the resource that is created."""

        def rows(resource_id: int) -> list[Model]:
            key = IdempotencyKey(**self.scope.columns, path=self.path, key_hash=self.key_hash, created_at=clock.now())
            key.content_hash, key.resource_id = content, resource_id
            return [key]

        return rows


@contextmanager
def hold(scope: TenantScope, path: str, key: str) -> Iterator[HeldKey]:
    """Hold a key during the block, which writes it with what it creates, or raises. Raise ``idempotency_key_in_use``
    while another call holds the key, or where another has created something under it since this one looked."""
    key_hash = hashlib.sha256(key.encode()).digest()
    # A connection that never rests may hold a lock for longer than its row is kept, so each day has its own.
    # Where two calls begin on two days, the unique constraint lets one of them through.
    name = f"{clock.now():%Y-%m-%d} {scope.organization_id} {scope.environment} {path} ".encode() + key_hash
    lock = int.from_bytes(hashlib.sha256(b"idempotency " + name).digest()[:8], signed=True)
    is_ours, made = _locked(lock, scope, path, key_hash)
    if not is_ours and made is None:
        raise _in_use()
    try:
        yield HeldKey(scope, path, key_hash, made)
    except BaseException as error:
        if is_ours:
            with suppress(DatabaseError, InterfaceError):  # a lost connection holds no lock
                one_row(_LET_GO, {"lock": lock})
        # The row was looked for just before the lock was taken, or the lock was lost with its connection.
        if isinstance(error, DomainError | IntegrityError) and made is None and _rows(scope, path, key_hash).exists():
            raise _in_use() from error
        raise


def _locked(lock: int, scope: TenantScope, path: str, key_hash: bytes) -> tuple[bool, Made | None]:
    """Return whether the lock is ours now, and what the key has made. An expired row is deleted under the lock."""
    values = {**scope.columns, "lock": lock, "oldest": clock.now() - KEPT, "path": path, "key_hash": key_hash}
    row: Any = one_row(_HOLD, values)  # the statement always has a row
    _, is_ours, content_hash, resource_id, is_kept = row
    if content_hash is None:
        return is_ours, None
    if is_kept:
        return is_ours, Made(content_hash, resource_id)
    if is_ours:
        _rows(scope, path, key_hash).delete()
    return is_ours, None


def _rows(scope: TenantScope, path: str, key_hash: bytes) -> QuerySet[IdempotencyKey]:
    return scoped(IdempotencyKey, scope).filter(path=path, key_hash=key_hash)


def _in_use() -> DomainError:
    message = _("Another call with this Idempotency-Key is still being answered. Try again in a moment.")
    return DomainError("idempotency_key_in_use", message)


def prune() -> int:
    """Delete the expired keys, in batches with a transaction each, and return how many. Ids rise with time, so the
    oldest are found without an index of times."""
    pruned, before = 0, clock.now() - KEPT
    while oldest := list(IdempotencyKey.objects.order_by("pk").values_list("pk", "created_at")[:_BATCH]):
        chosen = [pk for pk, created_at in oldest if created_at < before]
        pruned += IdempotencyKey.objects.filter(pk__in=chosen).delete()[0]
        if len(chosen) < _BATCH:
            break
    return pruned
