"""Counts the bytes of uploads, and of what stands in for them, as they come and go (docs/decisions/storage-limits.md)."""

from django.db import migrations

FORWARD = """
SELECT organizations_store(organization_id, environment, sum(file_size + coalesce(prepared_size, 0))::bigint)
FROM documents_document GROUP BY organization_id, environment;
CREATE FUNCTION documents_store() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM organizations_store(OLD.organization_id, OLD.environment,
                                    -OLD.file_size - coalesce(OLD.prepared_size, 0));
    ELSE
        PERFORM organizations_store(NEW.organization_id, NEW.environment,
                                    NEW.file_size + coalesce(NEW.prepared_size, 0));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER documents_store AFTER INSERT OR DELETE ON documents_document
    FOR EACH ROW EXECUTE FUNCTION documents_store();
"""
BACKWARD = """
DROP TRIGGER documents_store ON documents_document;
DROP FUNCTION documents_store();
"""


class Migration(migrations.Migration):
    dependencies = [("documents", "0005_prepared"), ("organizations", "0006_storage")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
