"""Notes the words that a request is found by, as its signers and documents come and change (docs/decisions/search.md).

New tables and triggers alone: the version before knows nothing of them, and its requests are found all the same.
"""

import django.db.models.deletion
from django.db import migrations, models

# Characters of both sides of a word in ASCII only, so that every database splits alike, whatever its locale.
FORWARD = r"""
CREATE FUNCTION signature_requests_words(given text) RETURNS SETOF text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT DISTINCT left(btrim(word, '.'), 60) FROM regexp_split_to_table(
        lower(regexp_replace(normalize(given, NFKD), '[\u0300-\u036f]', '', 'g')),
        '[\s!"#$%&''()*+,/:;<=>?@\[\]\\^`{|}~_-]+'
    ) AS word
    WHERE btrim(word, '.') <> '' LIMIT 20
$$;

CREATE FUNCTION signature_requests_words_of_signer(first_name text, last_name text, email text) RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT left(lower(email), 100)
    UNION SELECT signature_requests_words(first_name)
    UNION SELECT signature_requests_words(last_name)
    UNION SELECT signature_requests_words(split_part(email, '@', 2))
$$;

CREATE FUNCTION signature_requests_words_of_file(name text) RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT signature_requests_words(regexp_replace(name, '\.pdf$', '', 'i'))
$$;

CREATE FUNCTION signature_requests_find_signer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT request.organization_id, request.environment, word, request.id
    FROM signature_requests_signaturerequest AS request,
         signature_requests_words_of_signer(NEW.first_name, NEW.last_name, NEW.email) AS word
    WHERE request.id = NEW.request_id ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE FUNCTION signature_requests_find_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT document.organization_id, document.environment, word, NEW.request_id
    FROM documents_document AS document, signature_requests_words_of_file(document.name) AS word
    WHERE document.id = NEW.document_id ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

-- The words of a signer who changed go, unless another signer or a document of the request has them, too.
CREATE FUNCTION signature_requests_forget_signer() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER signer_found AFTER INSERT ON signature_requests_signer
    FOR EACH ROW EXECUTE FUNCTION signature_requests_find_signer();
CREATE TRIGGER signer_found_otherwise AFTER UPDATE OF first_name, last_name, email ON signature_requests_signer
    FOR EACH ROW WHEN ((OLD.first_name, OLD.last_name, OLD.email) IS DISTINCT FROM
                       (NEW.first_name, NEW.last_name, NEW.email))
    EXECUTE FUNCTION signature_requests_forget_signer();
CREATE TRIGGER requestdocument_found AFTER INSERT ON signature_requests_requestdocument
    FOR EACH ROW EXECUTE FUNCTION signature_requests_find_document();
"""
BACKWARD = """
DROP TRIGGER requestdocument_found ON signature_requests_requestdocument;
DROP TRIGGER signer_found_otherwise ON signature_requests_signer;
DROP TRIGGER signer_found ON signature_requests_signer;
DROP FUNCTION signature_requests_forget_signer(), signature_requests_find_document(), signature_requests_find_signer();
DROP FUNCTION signature_requests_words_of_file(text), signature_requests_words_of_signer(text, text, text);
DROP FUNCTION signature_requests_words(text);
"""


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0017_reminders"), ("organizations", "0014_web_sends")]

    operations = [
        migrations.CreateModel(
            name="SearchTerm",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "organization_id",
                        "environment",
                        "term",
                        "request_id",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "environment",
                    models.CharField(choices=[("sandbox", "Sandbox"), ("production", "Production")], max_length=10),
                ),
                ("term", models.CharField(db_collation="C", max_length=100)),
                (
                    "organization",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="organizations.organization",
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="signature_requests.signaturerequest",
                    ),
                ),
            ],
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
