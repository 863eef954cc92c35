"""What a version to come may bring: migrations over every table that a flow writes, one table each, and a step that
goes through many rows."""

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
_COLUMN = """from django.db import migrations

class Migration(migrations.Migration):
    dependencies = [{before}]
    operations = [migrations.RunSQL("ALTER TABLE {table} ADD COLUMN later integer DEFAULT 0")]
"""
_STEP = """from django.db import migrations
from paraph.database.in_batches import InBatches

STATEMENT = "UPDATE signature_requests_signer SET later = later + 1 WHERE id >= %s AND id < %s"

class Migration(migrations.Migration):
    atomic = False
    dependencies = [{before}]
    operations = [InBatches("later signers", "signature_requests_signer", STATEMENT, microseconds=50)]
"""


def write(folder: Path) -> dict[str, str]:
    """Writes it below the folder; returns the environment in which ``paraph migrate`` knows it."""
    migrations = folder / "expansion" / "migrations"
    migrations.mkdir(parents=True)
    (migrations.parent / "__init__.py").touch()
    (migrations / "__init__.py").touch()
    before = ""
    for number, table in enumerate((*TABLES, ""), 1):
        name = f"{number:04}_later"
        written = _COLUMN.format(before=before, table=table) if table else _STEP.format(before=before)
        (migrations / f"{name}.py").write_text(written)
        before = f'("expansion", "{name}")'
    settings = "from paraph.config.settings import *\n\nINSTALLED_APPS = [*INSTALLED_APPS, 'expansion']\n"
    (folder / "next_settings.py").write_text(settings)
    return {"PYTHONPATH": str(folder), "DJANGO_SETTINGS_MODULE": "next_settings"}
