"""The activity log only grows: a trigger refuses UPDATE and DELETE of a row, and TRUNCATE of the table."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION activity_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the activity log is append-only: % is refused', TG_OP;
END $$;
CREATE TRIGGER activity_append_only BEFORE UPDATE OR DELETE ON activity_activity
    FOR EACH ROW EXECUTE FUNCTION activity_refuse_change();
CREATE TRIGGER activity_no_truncate BEFORE TRUNCATE ON activity_activity
    FOR EACH STATEMENT EXECUTE FUNCTION activity_refuse_change();
"""
BACKWARD = """
DROP TRIGGER activity_no_truncate ON activity_activity;
DROP TRIGGER activity_append_only ON activity_activity;
DROP FUNCTION activity_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("activity", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
