"""What the database has gone on from: a number is given out once, also where a standby that was behind takes over, or
the database goes back to an earlier moment.

PostgreSQL begins a new timeline then. The first connection on it moves all sequences on, before any other may work.
"""

from django.db import migrations, models
from django.db.models.functions import Now

FORWARD = """
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
BACKWARD = "DROP FUNCTION evidence_follow_timeline(), evidence_move_sequences_on();"


class Migration(migrations.Migration):
    dependencies = [("evidence", "0006_failed_timestamps")]
    operations = [
        migrations.CreateModel(
            "Timeline",
            [
                ("number", models.BigIntegerField(primary_key=True, serialize=False)),
                ("began_at", models.DateTimeField(db_default=Now())),
                ("settled_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
