"""Triggers count the rows of each tenant, and their bytes, as they come, change and go (docs/decisions/long-lists.md,
storage-limits.md)."""

import django.db.models.deletion
import paraph.kernel.clock
from django.db import migrations, models

_COUNT = """
CREATE TRIGGER documents_come_and_go AFTER INSERT OR DELETE ON documents_document
    FOR EACH ROW EXECUTE FUNCTION organizations_count('documents');
CREATE TRIGGER documents_change AFTER UPDATE OF status, created_at ON documents_document
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.created_at IS DISTINCT FROM NEW.created_at)
    EXECUTE FUNCTION organizations_count('documents');
"""
_STORE = """
CREATE FUNCTION documents_file_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM organizations_store(OLD.organization_id, OLD.environment, -OLD.file_size - coalesce(OLD.prepared_size, 0));
    RETURN NULL;
END $$;
CREATE TRIGGER documents_file_deleted AFTER UPDATE OF file_deleted_at ON documents_document
    FOR EACH ROW WHEN (OLD.file_deleted_at IS NULL AND NEW.file_deleted_at IS NOT NULL)
    EXECUTE FUNCTION documents_file_deleted();
CREATE FUNCTION documents_store() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM organizations_store(NEW.organization_id, NEW.environment,
                                    NEW.file_size + coalesce(NEW.prepared_size, 0));
    ELSIF OLD.file_deleted_at IS NULL THEN
        PERFORM organizations_store(OLD.organization_id, OLD.environment,
                                    -OLD.file_size - coalesce(OLD.prepared_size, 0));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER documents_store AFTER INSERT OR DELETE ON documents_document
    FOR EACH ROW EXECUTE FUNCTION documents_store();
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("organizations", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Document",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "environment",
                    models.CharField(choices=[("sandbox", "Sandbox"), ("production", "Production")], max_length=10),
                ),
                ("name", models.CharField(max_length=255)),
                ("sha256", models.BinaryField()),
                ("file_size", models.BigIntegerField()),
                ("pages", models.JSONField()),
                ("preflight", models.JSONField(default=dict)),
                (
                    "status",
                    models.CharField(
                        choices=[("pending", "Pending"), ("ready", "Ready")], default="pending", max_length=10
                    ),
                ),
                ("object_key", models.CharField(max_length=200)),
                ("method", models.CharField(db_default="", default="", max_length=12)),
                ("clean_contents", models.BooleanField(db_default=False, default=False)),
                ("prepared_sha256", models.BinaryField(null=True)),
                ("prepared_size", models.BigIntegerField(null=True)),
                ("file_deleted_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                (
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="organizations.organization",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ObjectToDelete",
            fields=[
                ("object_key", models.CharField(max_length=200, primary_key=True, serialize=False)),
                ("since", models.DateTimeField(default=paraph.kernel.clock.now)),
            ],
            options={
                "indexes": [models.Index(fields=["since"], name="object_to_delete_since")],
            },
        ),
        migrations.CreateModel(
            name="UnrenderablePage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("page_number", models.IntegerField()),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="documents.document"
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="document",
            index=models.Index(
                fields=["organization", "environment", "created_at", "id"], name="documents_d_organiz_ba090d_idx"
            ),
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(fields=("object_key",), name="document_object_key"),
        ),
        migrations.AddConstraint(
            model_name="unrenderablepage",
            constraint=models.UniqueConstraint(fields=("document", "page_number"), name="unshown_page_once"),
        ),
        migrations.RunSQL(_COUNT),
        migrations.RunSQL(_STORE),
    ]
