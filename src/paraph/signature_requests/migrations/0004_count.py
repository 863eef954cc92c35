"""Counts the rows of each tenant as they come, change status and go (docs/decisions/long-lists.md)."""

from django.db import migrations

FORWARD = """
INSERT INTO organizations_tally (organization_id, environment, resource, day, status, count)
SELECT organization_id, environment, 'signature_requests', (created_at AT TIME ZONE 'UTC')::date, status, count(*)
FROM signature_requests_signaturerequest GROUP BY 1, 2, 4, 5;
CREATE TRIGGER signature_requests_come_and_go AFTER INSERT OR DELETE ON signature_requests_signaturerequest
    FOR EACH ROW EXECUTE FUNCTION organizations_count('signature_requests');
CREATE TRIGGER signature_requests_change AFTER UPDATE OF status, created_at ON signature_requests_signaturerequest
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.created_at IS DISTINCT FROM NEW.created_at)
    EXECUTE FUNCTION organizations_count('signature_requests');
"""
BACKWARD = """
DROP TRIGGER signature_requests_change ON signature_requests_signaturerequest;
DROP TRIGGER signature_requests_come_and_go ON signature_requests_signaturerequest;
DELETE FROM organizations_tally WHERE resource = 'signature_requests';
"""


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0003_by_status"), ("organizations", "0004_tally")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
