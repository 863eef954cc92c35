"""Notes the words of titles, which requests are found by as well (docs/decisions/search.md)."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION signature_requests_find_title() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT NEW.organization_id, NEW.environment, word, NEW.id FROM signature_requests_words(NEW.title) AS word
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

-- Which words of a request are still told by something, once a signer or the title has changed.
CREATE FUNCTION signature_requests_words_of_request(wanted bigint) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT signature_requests_words_of_signer(signer.first_name, signer.last_name, signer.email)
    FROM signature_requests_signer AS signer WHERE signer.request_id = wanted
    UNION
    SELECT signature_requests_words_of_file(document.name)
    FROM signature_requests_requestdocument AS listed
    JOIN documents_document AS document ON document.id = listed.document_id
    WHERE listed.request_id = wanted
    UNION
    SELECT signature_requests_words(request.title)
    FROM signature_requests_signaturerequest AS request WHERE request.id = wanted
$$;

CREATE OR REPLACE FUNCTION signature_requests_forget_signer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM signature_requests_searchterm AS found USING signature_requests_signaturerequest AS request
    WHERE request.id = OLD.request_id AND found.request_id = request.id
      AND found.organization_id = request.organization_id AND found.environment = request.environment
      AND found.term IN (SELECT signature_requests_words_of_signer(OLD.first_name, OLD.last_name, OLD.email));
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT request.organization_id, request.environment, word, request.id
    FROM signature_requests_signaturerequest AS request, signature_requests_words_of_request(OLD.request_id) AS word
    WHERE request.id = OLD.request_id ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION signature_requests_forget_title() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM signature_requests_searchterm AS found
    WHERE found.request_id = OLD.id AND found.organization_id = OLD.organization_id
      AND found.environment = OLD.environment AND found.term IN (SELECT signature_requests_words(OLD.title));
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT NEW.organization_id, NEW.environment, word, NEW.id FROM signature_requests_words_of_request(NEW.id) AS word
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER title_found AFTER INSERT ON signature_requests_signaturerequest
    FOR EACH ROW WHEN (NEW.title <> '') EXECUTE FUNCTION signature_requests_find_title();
CREATE TRIGGER title_found_otherwise AFTER UPDATE OF title ON signature_requests_signaturerequest
    FOR EACH ROW WHEN (OLD.title <> NEW.title) EXECUTE FUNCTION signature_requests_forget_title();
"""
BACKWARD = """
DROP TRIGGER title_found_otherwise ON signature_requests_signaturerequest;
DROP TRIGGER title_found ON signature_requests_signaturerequest;
DROP FUNCTION signature_requests_forget_title(), signature_requests_find_title();
CREATE OR REPLACE FUNCTION signature_requests_forget_signer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM signature_requests_searchterm AS found USING signature_requests_signaturerequest AS request
    WHERE request.id = OLD.request_id AND found.request_id = request.id
      AND found.organization_id = request.organization_id AND found.environment = request.environment
      AND found.term IN (SELECT signature_requests_words_of_signer(OLD.first_name, OLD.last_name, OLD.email));
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT request.organization_id, request.environment, word, request.id
    FROM signature_requests_signaturerequest AS request, LATERAL (
        SELECT signature_requests_words_of_signer(signer.first_name, signer.last_name, signer.email)
        FROM signature_requests_signer AS signer WHERE signer.request_id = request.id
        UNION
        SELECT signature_requests_words_of_file(document.name)
        FROM signature_requests_requestdocument AS listed
        JOIN documents_document AS document ON document.id = listed.document_id
        WHERE listed.request_id = request.id
    ) AS words (word)
    WHERE request.id = OLD.request_id ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
DROP FUNCTION signature_requests_words_of_request(bigint);
"""


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0021_title")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
