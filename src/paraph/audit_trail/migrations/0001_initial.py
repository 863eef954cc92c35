"""The journal only grows: a trigger refuses UPDATE and DELETE of a row, and TRUNCATE of the table.

It lets an entry lose personal values and nothing else: each value goes with its salt, and leaves the very commitment
that both gave. A salt has 32 digits, a commitment 64. An entry of format 1 has none, and stays as it is. What binds nobody may go: entries of the sandbox, with
their request.
"""

import django.db.models.deletion
import paraph.kernel.clock
from django.db import migrations, models

_APPEND_ONLY = """
CREATE FUNCTION journal_value(entry jsonb, path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT entry #>> string_to_array(path, '/')
$$;
CREATE FUNCTION journal_only_erases(old_entry jsonb, new_entry jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    path text;
    known text;
    kept jsonb := old_entry;
    wanted jsonb := new_entry;
BEGIN
    IF old_entry->>'format' = '1' THEN
        RETURN false;
    END IF;
    FOR path, known IN SELECT * FROM jsonb_each_text(old_entry->'salts') LOOP
        CONTINUE WHEN new_entry->'salts'->path = to_jsonb(known);
        IF length(known) <> 32 OR new_entry->'salts'->path IS DISTINCT FROM to_jsonb(encode(sha256(
            decode(known, 'hex') || convert_to(journal_value(old_entry, path), 'UTF8')), 'hex'))
        THEN
            RETURN false;
        END IF;
        kept := jsonb_set(kept, string_to_array(path, '/'), '""');
        kept := jsonb_set(kept, ARRAY['salts', path], '""');
        wanted := jsonb_set(wanted, string_to_array(path, '/'), '""');
        wanted := jsonb_set(wanted, ARRAY['salts', path], '""');
    END LOOP;
    RETURN kept = wanted;
END $$;
CREATE FUNCTION journal_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF journal_only_erases(to_jsonb(OLD), to_jsonb(NEW)) THEN
            RETURN NEW;
        END IF;
    END IF;
    IF TG_OP = 'DELETE' THEN
        IF OLD.environment = 'sandbox' THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'the journal is append-only: % is refused', TG_OP;
END $$;
CREATE TRIGGER journal_append_only BEFORE UPDATE OR DELETE ON journal_entry
    FOR EACH ROW EXECUTE FUNCTION journal_refuse_change();
CREATE FUNCTION journal_keep_shared() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the journal is append-only: % is refused', TG_OP;
END $$;
CREATE TRIGGER journal_shared_stays BEFORE UPDATE OR DELETE ON journal_sharedfacts
    FOR EACH ROW EXECUTE FUNCTION journal_keep_shared();
CREATE TRIGGER journal_shared_no_truncate BEFORE TRUNCATE ON journal_sharedfacts
    FOR EACH STATEMENT EXECUTE FUNCTION journal_keep_shared();
CREATE TRIGGER journal_no_truncate BEFORE TRUNCATE ON journal_entry
    FOR EACH STATEMENT EXECUTE FUNCTION journal_refuse_change();
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("organizations", "0001_initial"),
        ("signature_requests", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="SharedFacts",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.BinaryField(unique=True)),
                ("content", models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "environment",
                    models.CharField(choices=[("sandbox", "Sandbox"), ("production", "Production")], max_length=10),
                ),
                ("position", models.IntegerField()),
                ("event_type", models.CharField(max_length=50)),
                ("ip", models.CharField(blank=True, max_length=45)),
                ("user_agent", models.CharField(blank=True, max_length=500)),
                ("metadata", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("hash", models.BinaryField()),
                ("format", models.SmallIntegerField(db_default=1, default=1)),
                ("salts", models.JSONField(null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="organizations.organization",
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="journal",
                        to="signature_requests.signaturerequest",
                    ),
                ),
                (
                    "shared",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="journal.sharedfacts",
                    ),
                ),
                (
                    "signer",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="signature_requests.signer",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "constraints": [models.UniqueConstraint(fields=("request", "position"), name="journal_position")],
                "indexes": [
                    models.Index(condition=models.Q(signer__isnull=False), fields=["signer"], name="journal_signer")
                ],
            },
        ),
        migrations.RunSQL(_APPEND_ONLY),
    ]
