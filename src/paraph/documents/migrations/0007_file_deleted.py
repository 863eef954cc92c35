"""Uploads whose file is deleted while their row stays, and objects that are to be deleted.

Storage counts follow when a file goes. A request cannot begin with a document whose file is gone: the lock that this
takes is the one that a foreign key takes anyway.
"""

from django.db import migrations, models

import paraph.kernel.clock

FORWARD = """
CREATE FUNCTION documents_file_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM organizations_store(OLD.organization_id, OLD.environment, -OLD.file_size - coalesce(OLD.prepared_size, 0));
    RETURN NULL;
END $$;
CREATE TRIGGER documents_file_deleted AFTER UPDATE OF file_deleted_at ON documents_document
    FOR EACH ROW WHEN (OLD.file_deleted_at IS NULL AND NEW.file_deleted_at IS NOT NULL)
    EXECUTE FUNCTION documents_file_deleted();
CREATE OR REPLACE FUNCTION documents_store() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM organizations_store(NEW.organization_id, NEW.environment,
                                    NEW.file_size + coalesce(NEW.prepared_size, 0));
    ELSIF OLD.file_deleted_at IS NULL THEN
        PERFORM organizations_store(OLD.organization_id, OLD.environment,
                                    -OLD.file_size - coalesce(OLD.prepared_size, 0));
    END IF;
    RETURN NULL;
END $$;
"""
BACKWARD = """
DROP TRIGGER documents_file_deleted ON documents_document;
DROP FUNCTION documents_file_deleted();
CREATE OR REPLACE FUNCTION documents_store() RETURNS trigger LANGUAGE plpgsql AS $$
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
"""


class Migration(migrations.Migration):
    dependencies = [("documents", "0006_storage")]
    operations = [
        migrations.AddField("document", "file_deleted_at", models.DateTimeField(null=True)),
        migrations.CreateModel(
            name="ObjectToDelete",
            fields=[
                ("object_key", models.CharField(max_length=200, primary_key=True, serialize=False)),
                ("since", models.DateTimeField(default=paraph.kernel.clock.now)),
            ],
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
