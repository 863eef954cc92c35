"""Entries whose hash covers commitments to personal values (format 2), which can be erased.

The trigger lets an entry lose personal values and nothing else: each value goes with its salt, and leaves the very
commitment that both gave. An entry of format 1, whose hash covers the values themselves, keeps its hash and is marked
as erased ("salts" {}).
"""

from django.db import migrations, models

FORWARD = """
CREATE FUNCTION journal_value(entry jsonb, path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT entry #>> string_to_array(path, '/')
$$;
CREATE FUNCTION journal_only_erases(old_entry jsonb, new_entry jsonb) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    path text;
    known jsonb;
    kept jsonb := old_entry;
    wanted jsonb := new_entry;
BEGIN
    IF old_entry->>'format' = '1' THEN
        RETURN old_entry->'salts' = 'null' AND new_entry->'salts' = '{}'
           AND old_entry - '{ip,user_agent,metadata,salts}'::text[] = new_entry - '{ip,user_agent,metadata,salts}'::text[]
           AND (old_entry->'metadata') - '{recipient,recipients,acknowledgement}'::text[]
             = (new_entry->'metadata') - '{recipient,recipients,acknowledgement}'::text[];
    END IF;
    FOR path, known IN SELECT * FROM jsonb_each(old_entry->'salts') LOOP
        CONTINUE WHEN new_entry->'salts'->path = known;
        IF new_entry->'salts'->path IS DISTINCT FROM jsonb_build_object('commitment', encode(sha256(
            decode(known->>'salt', 'hex') || convert_to(journal_value(old_entry, path), 'UTF8')), 'hex'))
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
CREATE OR REPLACE FUNCTION journal_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF journal_only_erases(to_jsonb(OLD), to_jsonb(NEW)) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'the journal is append-only: % is refused', TG_OP;
END $$;
"""
BACKWARD = """
CREATE OR REPLACE FUNCTION journal_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the journal is append-only: % is refused', TG_OP;
END $$;
DROP FUNCTION journal_only_erases(jsonb, jsonb);
DROP FUNCTION journal_value(jsonb, text);
"""


class Migration(migrations.Migration):
    dependencies = [("journal", "0002_append_only")]
    operations = [
        migrations.AddField("entry", "format", models.SmallIntegerField(default=1, db_default=1)),
        migrations.AddField("entry", "salts", models.JSONField(null=True)),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
