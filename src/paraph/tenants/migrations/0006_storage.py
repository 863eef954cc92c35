"""What each tenant stores (docs/decisions/storage-limits.md)."""

import django.db.models.deletion
from django.db import migrations, models

FORWARD = """
CREATE FUNCTION organizations_store(organization bigint, environment varchar, difference bigint) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO organizations_storage AS storage (organization_id, environment, bytes)
    VALUES (organization, environment, difference)
    ON CONFLICT ON CONSTRAINT organizations_storage_pkey DO UPDATE SET bytes = storage.bytes + difference;
$$;
"""
BACKWARD = "DROP FUNCTION organizations_store(bigint, varchar, bigint);"


class Migration(migrations.Migration):
    dependencies = [("organizations", "0005_refuse_changeable")]

    operations = [
        migrations.CreateModel(
            name="Storage",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "organization_id", "environment", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "environment",
                    models.CharField(choices=[("sandbox", "Sandbox"), ("production", "Production")], max_length=10),
                ),
                ("bytes", models.BigIntegerField()),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="organizations.organization"
                    ),
                ),
            ],
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
