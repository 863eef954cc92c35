"""Counts the rows of each tenant as they come, change status and go (docs/decisions/long-lists.md)."""

from django.db import migrations

FORWARD = """
INSERT INTO organizations_tally (organization_id, environment, resource, day, status, count)
SELECT organization_id, environment, 'documents', (created_at AT TIME ZONE 'UTC')::date, status, count(*)
FROM documents_document GROUP BY 1, 2, 4, 5;
CREATE TRIGGER documents_come_and_go AFTER INSERT OR DELETE ON documents_document
    FOR EACH ROW EXECUTE FUNCTION organizations_count('documents');
CREATE TRIGGER documents_change AFTER UPDATE OF status, created_at ON documents_document
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.created_at IS DISTINCT FROM NEW.created_at)
    EXECUTE FUNCTION organizations_count('documents');
"""
BACKWARD = """
DROP TRIGGER documents_change ON documents_document;
DROP TRIGGER documents_come_and_go ON documents_document;
DELETE FROM organizations_tally WHERE resource = 'documents';
"""


class Migration(migrations.Migration):
    dependencies = [("documents", "0002_by_status"), ("organizations", "0004_tally")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
