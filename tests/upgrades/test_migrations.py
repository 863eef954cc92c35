"""What a migration may do, now that the version before goes on working while it runs and for a while after it: its
statements must fit the new tables (expand now; contract once no published version uses a thing), and none may hold a
large table for as long as it takes to read it."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently, RemoveIndexConcurrently
from django.core.management import call_command
from django.db import migrations, models
from django.db.migrations import Migration, operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

from tests.upgrades.make_dump import WORLDS

PUBLISHED = [json.loads(facts.read_text())["migrations"] for facts in sorted(WORLDS.glob("*/facts.json"))]
CONTRACTS: dict[str, str] = {}
"""Migrations that take away what a published version used, each with the last version that used it."""


def first() -> list[str]:
    """The migrations of the first published version; until there is one, those that make the tables."""
    made = [name for name, each in own(MigrationLoader(None)).items() if each.initial]
    return PUBLISHED[0] if PUBLISHED else made


def own(loader: MigrationLoader) -> dict[str, migrations.Migration]:
    return {
        f"{app}.{name}": found
        for (app, name), found in loader.disk_migrations.items()
        if type(found).__module__.startswith("paraph.")
    }


def test_every_migration_since_the_first_version_keeps_the_one_before_at_work() -> None:
    later = {name: each for name, each in own(MigrationLoader(None)).items() if name not in {*first(), *CONTRACTS}}
    assert {name: found for name, each in later.items() if (found := breaches(each))} == {}


@pytest.mark.django_db
def test_migrations_make_the_tables_that_the_models_name() -> None:
    call_command("makemigrations", check_changes=True, dry_run=True)


def test_no_migration_of_a_published_version_is_gone() -> None:
    assert set(first()) <= {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}


@pytest.mark.parametrize(
    "operation",
    [
        migrations.RemoveField("signer", "email"),
        migrations.RenameField("signer", "email", "address"),
        migrations.DeleteModel("Signer"),
        migrations.AddIndex("signer", models.Index(fields=["email"], name="by_email")),
        migrations.AddConstraint("signer", models.CheckConstraint(condition=models.Q(order__gt=0), name="positive")),
        migrations.AddField("signer", "age", models.IntegerField(default=0)),
        migrations.AddField("signer", "age", models.IntegerField(null=True, db_index=True)),
        migrations.AddField("signer", "again", models.ForeignKey("signer", models.PROTECT, null=True)),
        migrations.RunSQL("CREATE UNIQUE INDEX by_email ON signer (email)"),
        migrations.RunSQL("UPDATE signer SET email = lower(email)"),
        migrations.SeparateDatabaseAndState([migrations.RunSQL("ALTER TABLE signer ALTER email SET NOT NULL")]),
    ],
)
def test_what_breaks_or_holds_up_the_version_before_is_found(operation: Any) -> None:
    assert len(breaches(migration(operation))) == 1


@pytest.mark.parametrize(
    "operation",
    [
        AddIndexConcurrently("signer", models.Index(fields=["email"], name="by_email")),
        migrations.AddField("signer", "age", models.IntegerField(null=True)),
        migrations.AddField("signer", "age", models.IntegerField(db_default=0)),
        migrations.RunSQL("CREATE FUNCTION changed() RETURNS trigger AS $$\nUPDATE signer SET age = 1;\n$$"),
        migrations.RunSQL("CREATE INDEX CONCURRENTLY by_email ON signer (email)"),
    ],
)
def test_what_leaves_it_at_work_is_not(operation: Any) -> None:
    assert breaches(migration(operation)) == []


def test_a_new_table_may_have_what_it_wants() -> None:
    made = migrations.CreateModel("Age", [("id", models.BigAutoField(primary_key=True))])
    index = migrations.AddIndex("age", models.Index(fields=["id"], name="by_id"))
    assert breaches(migration(made, index)) == []


def test_what_cannot_be_begun_again_is_found() -> None:
    mixed = migration(migrations.AddField("signer", "age", models.IntegerField(null=True)), atomic=False)
    assert len(breaches(mixed)) == 1


def migration(*operations: Any, atomic: bool = True) -> migrations.Migration:
    kind = type("Migration", (migrations.Migration,), {"operations": operations, "atomic": atomic})
    made: migrations.Migration = kind("0001_made", "signature_requests")
    return made


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
