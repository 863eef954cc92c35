"""Triggers count the bytes of sealed documents and proofs as they come and go (docs/decisions/storage-limits.md)."""

import django.db.models.deletion
import paraph.kernel.clock
from django.db import migrations, models

_STORE = """
CREATE FUNCTION evidence_store_sealed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    file evidence_sealeddocument;
    sign int := 1;
BEGIN
    file := NEW;
    IF TG_OP = 'DELETE' THEN file := OLD; sign := -1; END IF;
    PERFORM organizations_store(request.organization_id, request.environment, sign * file.file_size)
    FROM signature_requests_requestdocument document
    JOIN signature_requests_signaturerequest request ON request.id = document.request_id
    WHERE document.id = file.request_document_id;
    RETURN NULL;
END $$;
CREATE FUNCTION evidence_store_proof() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    file evidence_prooffile;
    sign int := 1;
BEGIN
    file := NEW;
    IF TG_OP = 'DELETE' THEN file := OLD; sign := -1; END IF;
    PERFORM organizations_store(request.organization_id, request.environment, sign * file.file_size)
    FROM signature_requests_signaturerequest request WHERE request.id = file.request_id;
    RETURN NULL;
END $$;
CREATE TRIGGER sealed_store AFTER INSERT OR DELETE ON evidence_sealeddocument
    FOR EACH ROW EXECUTE FUNCTION evidence_store_sealed();
CREATE TRIGGER proofs_store AFTER INSERT OR DELETE ON evidence_prooffile
    FOR EACH ROW EXECUTE FUNCTION evidence_store_proof();
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [("signature_requests", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="SharedContent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.BinaryField(unique=True)),
                ("content", models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name="CertificateStatus",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("certificate_sha256", models.BinaryField(unique=True)),
                ("certificate", models.BinaryField()),
                ("issuer", models.BinaryField()),
                ("kind", models.CharField(default="", max_length=4)),
                ("content", models.BinaryField(default=bytes)),
                ("holds_until", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(db_index=True, default=paraph.kernel.clock.now)),
                ("asked_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("last_error", models.TextField(default="")),
            ],
        ),
        migrations.CreateModel(
            name="Backup",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("as_of", models.DateTimeField()),
                ("problems", models.IntegerField()),
            ],
            options={
                "indexes": [models.Index(condition=models.Q(("problems", 0)), fields=["as_of"], name="sound_backup")]
            },
        ),
        migrations.CreateModel(
            name="KeptTimestamp",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("object_key", models.CharField(max_length=200)),
                ("position", models.IntegerField()),
                ("token", models.BinaryField()),
                (
                    "shared",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="evidence.sharedcontent"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("object_key", "position"), name="one_timestamp_per_position")
                ]
            },
        ),
        migrations.CreateModel(
            name="SealingFailure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stage", models.CharField(max_length=10)),
                ("kind", models.CharField(db_default="", default="", max_length=12)),
                ("cause", models.TextField()),
                ("attempts", models.IntegerField(default=1)),
                ("failed_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sealing_failure",
                        to="signature_requests.signaturerequest",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ProofFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("object_key", models.CharField(max_length=200)),
                ("sha256", models.BinaryField()),
                ("file_size", models.BigIntegerField()),
                ("seal", models.JSONField()),
                (
                    "shared",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="evidence.sharedcontent"
                    ),
                ),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("timestamp_due_at", models.DateTimeField(db_index=True, null=True)),
                ("timestamp_late_since", models.DateTimeField(null=True)),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="proof",
                        to="signature_requests.signaturerequest",
                    ),
                ),
                ("log_index", models.BigIntegerField(null=True)),
            ],
            options={
                "abstract": False,
                "indexes": [
                    models.Index(
                        models.F("timestamp_late_since"),
                        condition=models.Q(("timestamp_late_since__isnull", False)),
                        name="prooffile_late",
                    ),
                    models.Index(
                        condition=models.Q(("log_index__isnull", True)), fields=["id"], name="prooffile_unlogged"
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("object_key",), name="prooffile_object_key")],
            },
        ),
        migrations.CreateModel(
            name="SealedDocument",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("object_key", models.CharField(max_length=200)),
                ("sha256", models.BinaryField()),
                ("file_size", models.BigIntegerField()),
                ("seal", models.JSONField()),
                (
                    "shared",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="evidence.sharedcontent"
                    ),
                ),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("timestamp_due_at", models.DateTimeField(db_index=True, null=True)),
                ("timestamp_late_since", models.DateTimeField(null=True)),
                (
                    "request_document",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sealed",
                        to="signature_requests.requestdocument",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "indexes": [
                    models.Index(
                        models.F("timestamp_late_since"),
                        condition=models.Q(("timestamp_late_since__isnull", False)),
                        name="sealeddocument_late",
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("object_key",), name="sealeddocument_object_key")],
            },
        ),
        migrations.CreateModel(
            name="BundleTimestamp",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("manifest_sha256", models.BinaryField()),
                ("token", models.BinaryField()),
                ("authority", models.JSONField()),
                (
                    "request",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="signature_requests.signaturerequest",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("request", "manifest_sha256"), name="one_timestamp_a_manifest")
                ]
            },
        ),
        migrations.RunSQL(_STORE),
    ]
