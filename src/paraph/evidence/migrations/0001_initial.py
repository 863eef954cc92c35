"""Triggers count the bytes of sealed documents and proofs as they come and go (docs/decisions/storage-limits.md).

A number is given out once, also where a standby that was behind takes over, or the database goes back to an earlier
moment: PostgreSQL begins a new timeline then, and the first connection on it moves all sequences on, before any other
may work.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
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
_FOLLOW_TIMELINE = """
CREATE FUNCTION evidence_move_sequences_on() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    each record;
BEGIN
    FOR each IN
        SELECT format('%I.%I', schemaname, sequencename)::regclass AS name, coalesce(last_value, 0) AS given
        FROM pg_sequences WHERE schemaname = current_schema() AND data_type = 'bigint'::regtype
    LOOP
        PERFORM setval(each.name, each.given + 100000);
    END LOOP;
END $$;

CREATE FUNCTION evidence_follow_timeline() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    here bigint;
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    here := ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint;
    IF EXISTS (SELECT FROM evidence_timeline WHERE number = here) THEN
        RETURN;
    END IF;
    IF NOT EXISTS (SELECT FROM evidence_timeline) THEN
        INSERT INTO evidence_timeline (number, settled_at) VALUES (here, now()) ON CONFLICT DO NOTHING;
        RETURN;  -- the first that is known went on from none
    END IF;
    -- Whoever comes at the same time waits here until the sequences are where they belong.
    INSERT INTO evidence_timeline (number) VALUES (here) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM evidence_move_sequences_on();
    END IF;
EXCEPTION WHEN feature_not_supported OR insufficient_privilege OR undefined_function THEN
    RETURN;  -- a service that calls itself PostgreSQL, and has no timelines
END $$;
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("signature_requests", "0001_initial"),
    ]

    operations = [
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
            name="Timeline",
            fields=[
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("began_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("settled_at", models.DateTimeField(null=True)),
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
                "indexes": [models.Index(condition=models.Q(("problems", 0)), fields=["as_of"], name="sound_backup")],
            },
        ),
        migrations.CreateModel(
            name="KeptTimestamp",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("object_key", models.CharField(max_length=200)),
                ("position", models.IntegerField()),
                ("token", models.BinaryField()),
                ("statuses", models.JSONField()),
                ("stamped_at", models.DateTimeField()),
                ("authority", models.TextField()),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("object_key", "position"), name="one_timestamp_per_position")
                ],
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
                ("object_key", models.CharField(max_length=200, unique=True)),
                ("sha256", models.BinaryField()),
                ("file_size", models.BigIntegerField()),
                ("seal", models.JSONField()),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("timestamp_due_at", models.DateTimeField(db_index=True, null=True)),
                ("timestamp_attempts", models.IntegerField(db_default=0, default=0)),
                (
                    "request",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="proof",
                        to="signature_requests.signaturerequest",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "indexes": [
                    models.Index(
                        condition=models.Q(("timestamp_attempts__gt", 0)),
                        fields=["timestamp_attempts"],
                        name="prooffile_attempts",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SealedDocument",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("object_key", models.CharField(max_length=200, unique=True)),
                ("sha256", models.BinaryField()),
                ("file_size", models.BigIntegerField()),
                ("seal", models.JSONField()),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("timestamp_due_at", models.DateTimeField(db_index=True, null=True)),
                ("timestamp_attempts", models.IntegerField(db_default=0, default=0)),
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
                        condition=models.Q(("timestamp_attempts__gt", 0)),
                        fields=["timestamp_attempts"],
                        name="sealeddocument_attempts",
                    )
                ],
            },
        ),
        migrations.RunSQL(_STORE),
        migrations.RunSQL(_FOLLOW_TIMELINE),
    ]
