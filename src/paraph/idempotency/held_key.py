"""Holding an idempotency key while its call is answered.

An advisory lock of the connection says that a call is at work: it ends with the process that held it, so a killed one
leaves its key free. The row is written in the transaction that creates, so what it names exists and is complete.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from django.db import DatabaseError, IntegrityError, InterfaceError, connection
from django.db.models import Model
from django.utils.translation import gettext as _

from paraph.idempotency.models import KEPT, IdempotencyKey
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.scope import TenantScope

Beside = Callable[[int], list[Model]]
"""Returns the rows to insert beside a new resource, of which it is told the id."""


def nothing_beside(_resource_id: int) -> list[Model]:
    return []


@dataclass(frozen=True)
class HeldKey:
    """A key that no other call holds."""

    scope: TenantScope
    path: str
    key_hash: bytes

    def made_before(self, content: bytes) -> int | None:
        """Return the id of what was created under the key in the last 24 hours; ``None`` for nothing. ``content``: the
        SHA-256 of what is asked for. Raise ``idempotency_key_reused`` where that was something else."""
        row = self.find()
        if row is None:
            return None
        if bytes(row.content_hash) != content:
            message = _("The Idempotency-Key was used with other content. Use a new key for a new call.")
            raise DomainError("idempotency_key_reused", message)
        return row.resource_id

    def beside(self, content: bytes) -> Beside:
        """Return what writes the key beside the resource that is created."""

        def rows(resource_id: int) -> list[Model]:
            return [
                IdempotencyKey(
                    organization_id=self.scope.organization_id,
                    environment=self.scope.environment,
                    path=self.path,
                    key_hash=self.key_hash,
                    content_hash=content,
                    resource_id=resource_id,
                    created_at=clock.now(),
                )
            ]

        return rows

    def find(self) -> IdempotencyKey | None:
        """Return the row of the key, if it is kept still; one that is not makes room."""
        row = IdempotencyKey.objects.filter(
            organization_id=self.scope.organization_id,
            environment=self.scope.environment,
            path=self.path,
            key_hash=self.key_hash,
        ).first()
        if row and row.created_at < clock.now() - KEPT:
            row.delete()
            return None
        return row


@contextmanager
def hold(scope: TenantScope, path: str, key: str) -> Iterator[HeldKey]:
    """Hold a key for the block. Raise ``idempotency_key_in_use`` while another call does, or where another call has
    created something under it since, though it no longer held it."""
    held = HeldKey(scope, path, hashlib.sha256(key.encode()).digest())
    name = f"{scope.organization_id} {scope.environment} {path} ".encode() + held.key_hash
    lock = int.from_bytes(hashlib.sha256(b"idempotency " + name).digest()[:8], signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [lock])
        if cursor.fetchone() != (True,):
            raise _in_use()
    try:
        yield held
    except IntegrityError as error:
        if held.find():  # the connection, and the lock with it, was lost on the way
            raise _in_use() from error
        raise
    finally:
        with suppress(DatabaseError, InterfaceError), connection.cursor() as cursor:  # a lost connection holds no lock
            cursor.execute("SELECT pg_advisory_unlock(%s)", [lock])


def _in_use() -> DomainError:
    message = _("Another call with this Idempotency-Key is still being answered. Try again in a moment.")
    return DomainError("idempotency_key_in_use", message)
