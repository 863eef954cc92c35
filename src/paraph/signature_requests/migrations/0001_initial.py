"""Triggers count the requests of each tenant (docs/decisions/long-lists.md), refuse documents whose file is deleted, also
where both happen at once, and note the words that a request is found by (docs/decisions/long-lists.md).
"""

import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
import paraph.kernel.clock
from django.conf import settings
from django.db import migrations, models

_COUNT = """
CREATE TRIGGER signature_requests_come_and_go AFTER INSERT OR DELETE ON signature_requests_signaturerequest
    FOR EACH ROW EXECUTE FUNCTION organizations_count('signature_requests');
CREATE TRIGGER signature_requests_change AFTER UPDATE OF status, created_at ON signature_requests_signaturerequest
    FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.created_at IS DISTINCT FROM NEW.created_at)
    EXECUTE FUNCTION organizations_count('signature_requests');
"""
_REQUIRE_FILE = """
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
# Characters of both sides of a word in ASCII only, so that every database splits alike, whatever its locale.
_SEARCH = r"""
-- As people type who lack a letter: strasse for Straße, mueller and muller for Müller, lodz for Łódź.
CREATE FUNCTION signature_requests_plain(given text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT regexp_replace(lower(regexp_replace(regexp_replace(regexp_replace(
        translate(regexp_replace(normalize(given, NFKD), '[\u0300-\u036f]', '', 'g'), 'ıŁłØøĐđÐð', 'iLlOoDdDd'),
        '[ßẞ]', 'ss', 'g'), '[Ææ]', 'ae', 'g'), '[Œœ]', 'oe', 'g')), '([aou])e', '\1', 'g')
$$;

CREATE FUNCTION signature_requests_words(given text) RETURNS SETOF text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT DISTINCT left(btrim(word, '.'), 60) FROM regexp_split_to_table(
        signature_requests_plain(given), '[\s!"#$%&''()*+,/:;<=>?@\[\]\\^`{|}~_-]+'
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

CREATE FUNCTION signature_requests_words_of_sender(title text, external_id text, metadata jsonb) RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT signature_requests_words(title)
    UNION SELECT signature_requests_words(external_id)
    UNION SELECT signature_requests_words(value) FROM jsonb_each_text(metadata)
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

CREATE FUNCTION signature_requests_find_own_data() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT NEW.organization_id, NEW.environment, word, NEW.id
    FROM signature_requests_words_of_sender(NEW.title, NEW.external_id, NEW.metadata) AS word
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

-- Which words of a request are still told by something, once a signer or the sender's own data have changed.
CREATE FUNCTION signature_requests_words_of_request(wanted bigint) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT signature_requests_words_of_signer(signer.first_name, signer.last_name, signer.email)
    FROM signature_requests_signer AS signer WHERE signer.request_id = wanted
    UNION
    SELECT signature_requests_words_of_file(document.name)
    FROM signature_requests_requestdocument AS listed
    JOIN documents_document AS document ON document.id = listed.document_id
    WHERE listed.request_id = wanted
    UNION
    SELECT signature_requests_words_of_sender(request.title, request.external_id, request.metadata)
    FROM signature_requests_signaturerequest AS request WHERE request.id = wanted
$$;

CREATE FUNCTION signature_requests_forget_signer() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE FUNCTION signature_requests_forget_own_data() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM signature_requests_searchterm AS found
    WHERE found.request_id = OLD.id AND found.organization_id = OLD.organization_id
      AND found.environment = OLD.environment
      AND found.term IN (SELECT signature_requests_words_of_sender(OLD.title, OLD.external_id, OLD.metadata));
    INSERT INTO signature_requests_searchterm (organization_id, environment, term, request_id)
    SELECT NEW.organization_id, NEW.environment, word, NEW.id FROM signature_requests_words_of_request(NEW.id) AS word
    ON CONFLICT DO NOTHING;
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
CREATE TRIGGER own_data_found AFTER INSERT ON signature_requests_signaturerequest
    FOR EACH ROW WHEN (NEW.title <> '' OR NEW.external_id <> '' OR NEW.metadata IS NOT NULL)
    EXECUTE FUNCTION signature_requests_find_own_data();
CREATE TRIGGER own_data_found_otherwise
    AFTER UPDATE OF title, external_id, metadata ON signature_requests_signaturerequest
    FOR EACH ROW WHEN ((OLD.title, OLD.external_id, OLD.metadata) IS DISTINCT FROM
                       (NEW.title, NEW.external_id, NEW.metadata))
    EXECUTE FUNCTION signature_requests_forget_own_data();
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("documents", "0001_initial"),
        ("organizations", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Signer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("first_name", models.CharField(max_length=200)),
                ("last_name", models.CharField(max_length=200)),
                ("email", models.CharField(max_length=320)),
                ("phone", models.CharField(blank=True, max_length=16)),
                (
                    "role",
                    models.CharField(
                        choices=[("signer", "Signer"), ("approver", "Approver")],
                        db_default="signer",
                        default="signer",
                        max_length=10,
                    ),
                ),
                ("order", models.IntegerField()),
                (
                    "otp_channel",
                    models.CharField(blank=True, choices=[("email", "Email"), ("sms", "Sms")], max_length=5),
                ),
                ("language", models.CharField(blank=True, db_default="", default="", max_length=5)),
                (
                    "status",
                    models.CharField(
                        choices=[("pending", "Pending"), ("notified", "Notified"), ("signed", "Signed")],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("token_salt", models.BinaryField()),
                ("replaced_links", models.SmallIntegerField(db_default=0, default=0)),
                ("notified_at", models.DateTimeField(null=True)),
                ("invitation", models.JSONField(null=True)),
                ("signed_at", models.DateTimeField(null=True)),
                ("signature_encrypted", models.BinaryField(null=True)),
                ("initials_encrypted", models.BinaryField(null=True)),
                ("fields_encrypted", models.BinaryField(null=True)),
                ("completion_notified_at", models.DateTimeField(null=True)),
                ("end_told_at", models.DateTimeField(null=True)),
                ("undelivered", models.JSONField(null=True)),
                ("remind_at", models.DateTimeField(null=True)),
                ("locale", models.CharField(blank=True, max_length=5)),
            ],
            options={
                "ordering": ["order"],
            },
        ),
        migrations.CreateModel(
            name="SignatureRequest",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "environment",
                    models.CharField(choices=[("sandbox", "Sandbox"), ("production", "Production")], max_length=10),
                ),
                ("title", models.CharField(blank=True, db_default="", default="", max_length=200)),
                ("subject", models.CharField(blank=True, db_default="", default="", max_length=150)),
                ("message", models.TextField(blank=True, db_default="", default="", max_length=5000)),
                ("external_id", models.CharField(blank=True, db_default="", default="", max_length=200)),
                ("metadata", models.JSONField(null=True)),
                ("redirect_url", models.CharField(blank=True, db_default="", default="", max_length=2000)),
                ("remind_every_days", models.SmallIntegerField(null=True)),
                ("reminders_at_most", models.SmallIntegerField(null=True)),
                (
                    "mode",
                    models.CharField(choices=[("sequential", "Sequential"), ("parallel", "Parallel")], max_length=10),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("pending", "Pending"), ("completed", "Completed"), ("expired", "Expired")],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("finalized", models.BooleanField(default=False)),
                ("validity_days", models.SmallIntegerField()),
                ("send_email", models.BooleanField(default=False)),
                ("initials_required", models.BooleanField(default=False)),
                ("notify_signers_on_completion", models.BooleanField(default=False)),
                ("callback_url", models.CharField(blank=True, max_length=2000)),
                ("locale", models.CharField(default="en", max_length=5)),
                ("locale_chosen", models.BooleanField(db_default=False, default=False)),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("expires_at", models.DateTimeField()),
                ("completed_at", models.DateTimeField(null=True)),
                ("ended_early_at", models.DateTimeField(null=True)),
                ("ended_reason", models.CharField(blank=True, db_default="", default="", max_length=500)),
                ("decline_allowed", models.BooleanField(db_default=False, default=False)),
                ("signature_only", models.BooleanField(db_default=False, default=False)),
                ("has_fields", models.BooleanField(db_default=False, default=False)),
                ("has_copies", models.BooleanField(db_default=False, default=False)),
                (
                    "declined_by",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="signature_requests.signer",
                    ),
                ),
                ("files_deleted_at", models.DateTimeField(null=True)),
                ("people_forgotten_at", models.DateTimeField(null=True)),
                (
                    "application",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="organizations.application",
                    ),
                ),
                (
                    "branding_profile",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="organizations.brandingprofile",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="organizations.organization",
                    ),
                ),
                (
                    "sent_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FirstOpening",
            fields=[
                (
                    "signer",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="first_opening",
                        serialize=False,
                        to="signature_requests.signer",
                    ),
                ),
                ("opened_at", models.DateTimeField()),
                ("ip", models.CharField(blank=True, max_length=45)),
            ],
        ),
        migrations.CreateModel(
            name="RequestDocument",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.SmallIntegerField()),
                (
                    "document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="documents.document"
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="request_documents",
                        to="signature_requests.signaturerequest",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
            },
        ),
        migrations.CreateModel(
            name="Field",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.SmallIntegerField()),
                ("name", models.CharField(max_length=100)),
                ("type", models.CharField(max_length=10)),
                ("label", models.CharField(max_length=200)),
                ("required", models.BooleanField(default=True)),
                ("read_only", models.BooleanField(default=False)),
                ("value", models.JSONField(null=True)),
                ("options", models.JSONField(null=True)),
                ("max_length", models.SmallIntegerField(null=True)),
                ("minimum", models.CharField(blank=True, default="", max_length=30)),
                ("maximum", models.CharField(blank=True, default="", max_length=30)),
                ("font_size", models.FloatField(default=10)),
                ("page_number", models.IntegerField()),
                ("x", models.FloatField()),
                ("y", models.FloatField()),
                ("width", models.FloatField()),
                ("height", models.FloatField()),
                (
                    "request_document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="fields",
                        to="signature_requests.requestdocument",
                    ),
                ),
                (
                    "signer",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="fields",
                        to="signature_requests.signer",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("signer", "request_document", "name"), name="field_name_once_per_signer_and_document"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CopyRecipient",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.SmallIntegerField()),
                ("first_name", models.CharField(max_length=200)),
                ("last_name", models.CharField(max_length=200)),
                ("email", models.CharField(max_length=320)),
                ("token_salt", models.BinaryField()),
                ("notified_at", models.DateTimeField(null=True)),
                ("undelivered", models.JSONField(null=True)),
                (
                    "request",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="copies",
                        to="signature_requests.signaturerequest",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
                "constraints": [models.UniqueConstraint(fields=("request", "position"), name="copy_once_per_position")],
                "indexes": [models.Index(django.db.models.functions.text.Upper("email"), name="copy_by_email")],
            },
        ),
        migrations.CreateModel(
            name="Placement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("page_number", models.IntegerField()),
                ("x", models.FloatField()),
                ("y", models.FloatField()),
                ("width", models.FloatField()),
                ("height", models.FloatField()),
                (
                    "signer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="placements",
                        to="signature_requests.signer",
                    ),
                ),
                (
                    "request_document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="placements",
                        to="signature_requests.requestdocument",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="signer",
            name="request",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="signers",
                to="signature_requests.signaturerequest",
            ),
        ),
        migrations.CreateModel(
            name="SenderMail",
            fields=[
                ("name", models.CharField(max_length=80, primary_key=True, serialize=False)),
                ("kind", models.CharField(max_length=12)),
                ("about", models.BigIntegerField(default=0)),
                ("sent_at", models.DateTimeField(null=True)),
                (
                    "request",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sender_mails",
                        to="signature_requests.signaturerequest",
                    ),
                ),
            ],
        ),
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
        migrations.CreateModel(
            name="Inquiry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("question", "Question"), ("not_me", "Not for me")],
                        max_length=10,
                    ),
                ),
                ("text", models.TextField()),
                ("asked_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("forwarded_at", models.DateTimeField(null=True)),
                (
                    "signer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="inquiries",
                        to="signature_requests.signer",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["asked_at"], name="inquiry_by_time")],
            },
        ),
        migrations.CreateModel(
            name="Reminder",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.SmallIntegerField()),
                ("automatic", models.BooleanField(db_default=False, default=False)),
                ("asked_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("message", models.TextField(blank=True, db_default="", default="", max_length=1000)),
                ("mail", models.JSONField(null=True)),
                ("journaled", models.BooleanField(default=False)),
                (
                    "signer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reminders",
                        to="signature_requests.signer",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("signer", "number"), name="reminder_once_per_number")],
            },
        ),
        migrations.AddConstraint(
            model_name="signer",
            constraint=models.UniqueConstraint(fields=("request", "order"), name="order_once_per_request"),
        ),
        migrations.AddIndex(
            model_name="signer",
            index=models.Index(
                condition=models.Q(("remind_at__isnull", False)), fields=["remind_at"], name="signer_to_remind"
            ),
        ),
        migrations.AddIndex(
            model_name="signer",
            index=models.Index(django.db.models.functions.text.Upper("email"), name="signer_by_email"),
        ),
        migrations.AddIndex(
            model_name="signer",
            index=models.Index(
                condition=models.Q(("phone", ""), _negated=True), fields=["phone"], name="signer_by_phone"
            ),
        ),
        migrations.AddIndex(
            model_name="signer",
            index=models.Index(condition=models.Q(("replaced_links__gt", 0)), fields=["id"], name="signer_corrected"),
        ),
        migrations.AddIndex(
            model_name="signaturerequest",
            index=models.Index(
                fields=["organization", "environment", "created_at", "id"], name="signature_r_organiz_b0e44b_idx"
            ),
        ),
        migrations.AddIndex(
            model_name="signaturerequest",
            index=models.Index(
                fields=["organization", "environment", "status", "created_at", "id"], name="request_by_status"
            ),
        ),
        migrations.AddIndex(
            model_name="signaturerequest",
            index=models.Index(
                condition=models.Q(("external_id", ""), _negated=True),
                fields=["organization", "environment", "external_id", "created_at", "id"],
                name="request_by_external_id",
            ),
        ),
        migrations.AddIndex(
            model_name="signaturerequest",
            index=models.Index(condition=models.Q(("status", "pending")), fields=["expires_at"], name="request_due"),
        ),
        migrations.AddIndex(
            model_name="signaturerequest",
            index=models.Index(
                models.F("organization"),
                models.F("environment"),
                django.db.models.functions.comparison.Coalesce("completed_at", "ended_early_at", "expires_at"),
                condition=models.Q(models.Q(("status", "pending"), _negated=True), ("files_deleted_at", None)),
                name="request_ended",
            ),
        ),
        migrations.AddIndex(
            model_name="signaturerequest",
            index=models.Index(
                models.F("organization"),
                models.F("environment"),
                django.db.models.functions.comparison.Coalesce("completed_at", "ended_early_at", "expires_at"),
                condition=models.Q(("files_deleted_at__isnull", False), ("people_forgotten_at", None)),
                name="people_due",
            ),
        ),
        migrations.AddIndex(
            model_name="signaturerequest",
            index=models.Index(
                condition=models.Q(("status", "pending")),
                fields=["organization", "environment", "expires_at"],
                name="request_expiring",
            ),
        ),
        migrations.AddIndex(
            model_name="signaturerequest",
            index=models.Index(
                condition=models.Q(("finalized", False), ("status", "completed")),
                fields=["organization", "environment", "completed_at"],
                name="request_unsealed",
            ),
        ),
        migrations.AddIndex(
            model_name="signaturerequest",
            index=models.Index(
                condition=models.Q(("declined_by__isnull", False)),
                fields=["organization", "environment", "ended_early_at"],
                name="request_declined",
            ),
        ),
        migrations.AddIndex(
            model_name="signaturerequest",
            index=models.Index(
                condition=models.Q(("declined_by__isnull", False)), fields=["declined_by"], name="request_decliner"
            ),
        ),
        migrations.AddConstraint(
            model_name="requestdocument",
            constraint=models.UniqueConstraint(fields=("request", "document"), name="document_once_per_request"),
        ),
        migrations.RunSQL(_COUNT),
        migrations.RunSQL(_REQUIRE_FILE),
        migrations.RunSQL(_SEARCH),
        migrations.CreateModel(
            name="Approval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "request_document",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approvals",
                        to="signature_requests.requestdocument",
                    ),
                ),
                (
                    "signer",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approvals",
                        to="signature_requests.signer",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("signer", "request_document"), name="approval_once_per_document")
                ],
            },
        ),
    ]
