"""What a migration may do, now that the version before goes on working while it runs and for a while after it.

Its statements must fit the new tables (expand now; contract once no published version uses a thing), and none may hold
a large table for as long as it takes to read it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently, RemoveIndexConcurrently
from django.db.migrations import Migration, operations
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

_CONTRACTS = (
    operations.RemoveField,
    operations.RenameField,
    operations.DeleteModel,
    operations.RenameModel,
    operations.AlterModelTable,
)
_REPEATABLE = (AddIndexConcurrently, RemoveIndexConcurrently, operations.RunPython)
_MOVING = re.compile(r"^\s*(UPDATE|DELETE|INSERT)\b", re.IGNORECASE | re.MULTILINE)
_BODIES = re.compile(r"\$\$.*?\$\$", re.DOTALL)
_BLOCKING = re.compile(
    r"CREATE\s+(UNIQUE\s+)?INDEX\s+(?!CONCURRENTLY)|SET\s+NOT\s+NULL|\bLOCK\s+TABLE\b", re.IGNORECASE
)


def breaches(migration: Migration) -> list[str]:
    """A sentence for each operation that would hold up or break the version before."""
    new_tables = {each.name_lower for each in migration.operations if isinstance(each, operations.CreateModel)}
    found = []
    for operation in _flat(migration.operations):
        of = str(getattr(operation, "model_name", "")).lower()
        if of not in new_tables:
            found += [f"{operation.describe()}: {why}" for why in _breaches(operation)]
    if not migration.atomic and not all(isinstance(each, _REPEATABLE) for each in migration.operations):
        found.append("what is not done in one transaction is begun again after a fault: indexes and nothing else")
    return found


def _flat(given: Sequence[Operation]) -> Iterator[Operation]:
    for operation in given:
        if isinstance(operation, operations.SeparateDatabaseAndState):
            yield from _flat(operation.database_operations)
        else:
            yield operation


def _breaches(operation: Operation) -> Iterator[str]:
    if isinstance(operation, _CONTRACTS):
        yield "the version before still uses it"
    if isinstance(operation, operations.AddIndex) and not isinstance(operation, AddIndexConcurrently):
        yield "nothing can be written meanwhile; make it concurrently"
    if isinstance(operation, operations.AddConstraint) and not isinstance(operation, AddConstraintNotValid):
        yield "the table is read meanwhile; add it as not valid, and validate it in another migration"
    if isinstance(operation, operations.AddField):
        yield from _of_new_field(operation.field)
    if isinstance(operation, operations.RunSQL) and _BLOCKING.search(str(operation.sql)):
        yield "the table is held meanwhile"
    if isinstance(operation, operations.RunSQL) and _MOVING.search(_BODIES.sub("", str(operation.sql))):
        yield "rows are locked until all are done; go through them in batches (InBatches)"


def _of_new_field(field: Any) -> Iterator[str]:
    if not field.null and field.db_default is NOT_PROVIDED and not field.many_to_many:
        yield "the version before adds rows without it; let it be null or have a default in the database"
    if field.db_index or field.unique:
        yield "its index is made while nothing can be written; make it concurrently afterwards"
