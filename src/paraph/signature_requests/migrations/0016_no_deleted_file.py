"""No request begins with a document whose file is deleted, also where both happen at once."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION signature_requests_require_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM documents_document WHERE id = NEW.document_id AND file_deleted_at IS NULL FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE foreign_key_violation USING MESSAGE = 'the file of document ' || NEW.document_id || ' is deleted';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER requestdocument_file AFTER INSERT ON signature_requests_requestdocument
    FOR EACH ROW EXECUTE FUNCTION signature_requests_require_file();
"""
BACKWARD = """
DROP TRIGGER requestdocument_file ON signature_requests_requestdocument;
DROP FUNCTION signature_requests_require_file();
"""


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0015_request_ended"), ("documents", "0007_file_deleted")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
