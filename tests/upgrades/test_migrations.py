"""Migrations that run while the service works, and wait for a table no longer than requests can."""

import json
from typing import Any

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.core.management import call_command
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader

from tests.upgrades.make_dump import WORLDS
from tests.upgrades.side_by_side import breaches

PUBLISHED = [json.loads(facts.read_text())["migrations"] for facts in sorted(WORLDS.glob("*/facts.json"))]
CONTRACTS: dict[str, str] = {}
"""Migrations that take away what a published version used, and which one was the last to."""


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
