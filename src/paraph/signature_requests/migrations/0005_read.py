"""The function that reads one request as the API shows it (specification 2.2).

A function, because its plans are kept for the life of a connection, and JSON, because four sets of rows then need
neither four statements nor models. In place of the signing URL stands what it derives from: the salt.
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION signature_requests_read(of_organization bigint, of_environment text, wanted bigint)
RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    form CONSTANT text := 'YYYY-MM-DD"T"HH24:MI:SS"Z"';
BEGIN
    RETURN (
        SELECT json_build_object(
            'id', request.id,
            'mode', request.mode,
            'status', request.status,
            'validity_days', request.validity_days,
            'initials_required', request.initials_required,
            'notify_signers_on_completion', request.notify_signers_on_completion,
            'expires_at', to_char(request.expires_at AT TIME ZONE 'UTC', form),
            'created_at', to_char(request.created_at AT TIME ZONE 'UTC', form),
            'document_ids', (
                SELECT coalesce(json_agg(document.document_id ORDER BY document.position), '[]')
                FROM signature_requests_requestdocument AS document WHERE document.request_id = request.id
            ),
            'signers', (
                SELECT coalesce(json_agg(json_build_object(
                    'id', signer.id,
                    'first_name', signer.first_name,
                    'last_name', signer.last_name,
                    'full_name', signer.first_name || ' ' || signer.last_name,
                    'email', signer.email,
                    'order', signer."order",
                    'status', signer.status,
                    'signed_at', to_char(signer.signed_at AT TIME ZONE 'UTC', form),
                    'signing_url', CASE WHEN signer.status <> 'signed' THEN encode(signer.token_salt, 'hex') END
                ) ORDER BY signer."order"), '[]')
                FROM signature_requests_signer AS signer WHERE signer.request_id = request.id
            ),
            'branding_profile', (
                SELECT json_build_object(
                    'id', profile.id,
                    'name', profile.name,
                    'background_color', profile.background_color,
                    'text_color', profile.text_color,
                    'accent_color', profile.accent_color
                )
                FROM organizations_brandingprofile AS profile WHERE profile.id = request.branding_profile_id
            ),
            'finalized', request.finalized
        )
        FROM signature_requests_signaturerequest AS request
        WHERE request.id = wanted AND request.organization_id = of_organization
          AND request.environment = of_environment
    );
END $$;
"""
BACKWARD = "DROP FUNCTION signature_requests_read(bigint, text, bigint);"


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0004_count"), ("organizations", "0004_tally")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
