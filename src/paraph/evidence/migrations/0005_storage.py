"""Counts the bytes of sealed documents and proofs as they come and go (docs/decisions/storage-limits.md)."""

from django.db import migrations

FORWARD = """
SELECT organizations_store(organization_id, environment, sum(file_size)::bigint) FROM (
    SELECT request.organization_id, request.environment, file_size FROM evidence_sealeddocument sealed
    JOIN signature_requests_requestdocument document ON document.id = sealed.request_document_id
    JOIN signature_requests_signaturerequest request ON request.id = document.request_id
    UNION ALL
    SELECT request.organization_id, request.environment, file_size FROM evidence_prooffile proof
    JOIN signature_requests_signaturerequest request ON request.id = proof.request_id
) AS files GROUP BY organization_id, environment;
CREATE FUNCTION evidence_store_sealed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    file evidence_sealeddocument;
    sign int := 1;
BEGIN
    file := NEW;
    IF TG_OP = 'DELETE' THEN file := OLD; sign := -1; END IF;
    PERFORM organizations_store(request.organization_id, request.environment, sign * file.file_size)
    FROM signature_requests_requestdocument document
    JOIN signature_requests_signaturerequest request ON request.id = document.request_id
    WHERE document.id = file.request_document_id;
    RETURN NULL;
END $$;
CREATE FUNCTION evidence_store_proof() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    file evidence_prooffile;
    sign int := 1;
BEGIN
    file := NEW;
    IF TG_OP = 'DELETE' THEN file := OLD; sign := -1; END IF;
    PERFORM organizations_store(request.organization_id, request.environment, sign * file.file_size)
    FROM signature_requests_signaturerequest request WHERE request.id = file.request_id;
    RETURN NULL;
END $$;
CREATE TRIGGER sealed_store AFTER INSERT OR DELETE ON evidence_sealeddocument
    FOR EACH ROW EXECUTE FUNCTION evidence_store_sealed();
CREATE TRIGGER proofs_store AFTER INSERT OR DELETE ON evidence_prooffile
    FOR EACH ROW EXECUTE FUNCTION evidence_store_proof();
"""
BACKWARD = """
DROP TRIGGER proofs_store ON evidence_prooffile;
DROP TRIGGER sealed_store ON evidence_sealeddocument;
DROP FUNCTION evidence_store_proof();
DROP FUNCTION evidence_store_sealed();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("evidence", "0004_sealing_failure_kind"),
        ("organizations", "0006_storage"),
        ("signature_requests", "0007_shown"),
    ]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
