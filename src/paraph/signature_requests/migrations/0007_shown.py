"""The function that reads one request as the bytes that the API answers (specification 2.2).

``row_to_json`` writes them as the API's encoder does, so that nobody has to read them and write them again. In place
of each signing URL stands what it derives from: the signer's id and the salt. The function of 0005 stays for the
version before.
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION signature_requests_shown(of_organization bigint, of_environment text, wanted bigint)
RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    form CONSTANT text := 'YYYY-MM-DD"T"HH24:MI:SS"Z"';
    found_text text;
BEGIN
    SELECT row_to_json(shown) INTO found_text FROM (
        SELECT
            request.id,
            request.mode,
            request.status,
            request.validity_days,
            request.initials_required,
            request.notify_signers_on_completion,
            to_char(request.expires_at AT TIME ZONE 'UTC', form) AS expires_at,
            to_char(request.created_at AT TIME ZONE 'UTC', form) AS created_at,
            ARRAY(
                SELECT document.document_id FROM signature_requests_requestdocument AS document
                WHERE document.request_id = request.id ORDER BY document.position
            ) AS document_ids,
            ARRAY(
                SELECT row_to_json(one) FROM (
                    SELECT
                        signer.id,
                        signer.first_name,
                        signer.last_name,
                        signer.first_name || ' ' || signer.last_name AS full_name,
                        signer.email,
                        signer."order",
                        signer.status,
                        to_char(signer.signed_at AT TIME ZONE 'UTC', form) AS signed_at,
                        CASE WHEN signer.status <> 'signed'
                            THEN signer.id || '.' || encode(signer.token_salt, 'hex') END AS signing_url
                    FROM signature_requests_signer AS signer
                    WHERE signer.request_id = request.id ORDER BY signer."order"
                ) AS one
            ) AS signers,
            (
                SELECT row_to_json(profile) FROM (
                    SELECT id, name, background_color, text_color, accent_color
                    FROM organizations_brandingprofile WHERE id = request.branding_profile_id
                ) AS profile
            ) AS branding_profile,
            request.finalized
        FROM signature_requests_signaturerequest AS request
        WHERE request.id = wanted AND request.organization_id = of_organization
          AND request.environment = of_environment
    ) AS shown;
    RETURN found_text;
END $$;
"""
BACKWARD = "DROP FUNCTION signature_requests_shown(bigint, text, bigint);"


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0006_invitation"), ("organizations", "0004_tally")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
