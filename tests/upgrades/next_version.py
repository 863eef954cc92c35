"""What a version to come may bring: migrations over every table that a flow writes, one table each, and a step that
goes through many rows."""

from collections.abc import Sequence
from pathlib import Path

TABLES = (
    "organizations_organization",
    "organizations_application",
    "organizations_apikey",
    "documents_document",
    "signature_requests_signaturerequest",
    "signature_requests_requestdocument",
    "signature_requests_signer",
    "signature_requests_placement",
    "journal_entry",
    "otp_onetimecode",
    "webhooks_delivery",
    "evidence_sealeddocument",
    "evidence_prooffile",
    "procrastinate_jobs",
)
_ALL = ", ".join(f'("{label}", "__latest__")' for label in ("evidence", "journal", "otp", "webhooks", "procrastinate"))
_COLUMN = """from django.db import migrations

class Migration(migrations.Migration):
    dependencies = [{before}]
    operations = [migrations.RunSQL("ALTER TABLE {table} ADD COLUMN later integer DEFAULT 0")]
"""
_STEP = """from django.db import migrations
from paraph.database.migrations import InBatches

STATEMENT = "UPDATE signature_requests_signer SET later = later + 1 WHERE id >= %s AND id < %s"

class Migration(migrations.Migration):
    atomic = False
    dependencies = [{before}]
    operations = [InBatches("later signers", "signature_requests_signer", STATEMENT, microseconds=50)]
"""
_TABLE = """from django.db import migrations, models

CODE = migrations.CreateModel("Code", [
    ("signer", models.BigIntegerField(primary_key=True)),
    ("expires_at", models.DateTimeField()),
    ("used_at", models.DateTimeField()),
], options={"db_table": "otp_onetimecode"})

class Migration(migrations.Migration):
    operations = [migrations.SeparateDatabaseAndState(state_operations=[CODE])]
"""
_INDEXES = """from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

class Migration(migrations.Migration):
    atomic = False
    dependencies = [("expansion", "0001_later")]
    operations = [
        AddIndexConcurrently("code", models.Index(fields=["expires_at"], name="code_by_end")),
        AddIndexConcurrently("code", models.Index(fields=["used_at"], name="code_by_use")),
    ]
"""


def write(folder: Path, tables: Sequence[str] = (*TABLES, "")) -> dict[str, str]:
    """Write a migration for each table ("": for the step through many rows) below the folder. Return the environment
    in which ``paraph migrate`` knows them."""
    written: list[str] = []
    for number, table in enumerate(tables, 1):
        before = f'("expansion", "{number - 1:04}_later")' if written else _ALL
        written.append(_COLUMN.format(before=before, table=table) if table else _STEP.format(before=before))
    return _write(folder, written)


def write_indexes(folder: Path) -> dict[str, str]:
    """Write two migrations: the first declares a table, the second makes two indexes of it. Return the environment."""
    return _write(folder, [_TABLE, _INDEXES])


def _write(folder: Path, written: list[str]) -> dict[str, str]:
    migrations = folder / "expansion" / "migrations"
    migrations.mkdir(parents=True)
    (migrations.parent / "__init__.py").touch()
    (migrations / "__init__.py").touch()
    for number, text in enumerate(written, 1):
        (migrations / f"{number:04}_later.py").write_text(text)
    settings = "from paraph.config.settings import *\n\nINSTALLED_APPS = [*INSTALLED_APPS, 'expansion']\n"
    (folder / "next_settings.py").write_text(settings)
    return {"PYTHONPATH": str(folder), "DJANGO_SETTINGS_MODULE": "next_settings"}
