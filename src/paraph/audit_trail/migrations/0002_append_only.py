"""The journal only grows: a trigger refuses UPDATE and DELETE of a row, and TRUNCATE of the table."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION journal_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the journal is append-only: % is refused', TG_OP;
END $$;
CREATE TRIGGER journal_append_only BEFORE UPDATE OR DELETE ON journal_entry
    FOR EACH ROW EXECUTE FUNCTION journal_refuse_change();
CREATE TRIGGER journal_no_truncate BEFORE TRUNCATE ON journal_entry
    FOR EACH STATEMENT EXECUTE FUNCTION journal_refuse_change();
"""
BACKWARD = """
DROP TRIGGER journal_no_truncate ON journal_entry;
DROP TRIGGER journal_append_only ON journal_entry;
DROP FUNCTION journal_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("journal", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
