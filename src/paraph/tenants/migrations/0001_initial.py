"""Organizations, accounts and members. Tables of counters are unlogged: a crash of the database starts them anew."""

import django.db.models.deletion
import paraph.kernel.clock
from django.conf import settings
from django.db import migrations, models

# Room for new versions of a row on its own page: it changes with every call.
_COUNTERS = """
ALTER TABLE organizations_usage SET UNLOGGED, SET (fillfactor = 50);
ALTER TABLE organizations_keyusage SET UNLOGGED, SET (fillfactor = 50);
ALTER TABLE organizations_monthlycalls SET (fillfactor = 50);
"""
# The table of Django's cache, in which allauth counts attempts.
_CACHE = """
CREATE UNLOGGED TABLE members_cache (
    cache_key varchar(255) PRIMARY KEY,
    value text NOT NULL,
    expires timestamp with time zone NOT NULL
);
CREATE INDEX members_cache_expires ON members_cache (expires);
"""
# For triggers of each row; the argument is the name of the resource (docs/decisions/long-lists.md).
_COUNT = """
CREATE FUNCTION organizations_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE organizations_tally AS tally SET count = tally.count - 1
        WHERE tally.organization_id = OLD.organization_id AND tally.environment = OLD.environment
          AND tally.resource = TG_ARGV[0] AND tally.day = (OLD.created_at AT TIME ZONE 'UTC')::date
          AND tally.status = OLD.status;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO organizations_tally AS tally (organization_id, environment, resource, day, status, count)
        VALUES (NEW.organization_id, NEW.environment, TG_ARGV[0], (NEW.created_at AT TIME ZONE 'UTC')::date,
                NEW.status, 1)
        ON CONFLICT ON CONSTRAINT organizations_tally_pkey DO UPDATE SET count = tally.count + 1;
    END IF;
    RETURN NULL;
END $$;
"""
# What each tenant stores (docs/decisions/storage-limits.md).
_STORE = """
CREATE FUNCTION organizations_store(organization bigint, environment varchar, difference bigint) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO organizations_storage AS storage (organization_id, environment, bytes)
    VALUES (organization, environment, difference)
    ON CONFLICT ON CONSTRAINT organizations_storage_pkey DO UPDATE SET bytes = storage.bytes + difference;
$$;
"""
# A number is given out once, also where a standby that was behind takes over, or the database goes back to an earlier
# moment: PostgreSQL begins a new timeline then, and the first connection on it moves all sequences on, before any other
# may work (docs/decisions/outages.md).
_FOLLOW_TIMELINE = """
CREATE FUNCTION organizations_follow_timeline() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    here bigint;
    earlier bigint;
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    here := ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint;
    IF NOT EXISTS (SELECT FROM organizations_installation WHERE timeline IS DISTINCT FROM here) THEN
        RETURN;
    END IF;
    -- Whoever comes at the same time waits here until the sequences are where they belong, and finds nothing.
    SELECT timeline INTO earlier FROM organizations_installation WHERE timeline IS DISTINCT FROM here FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF earlier IS NOT NULL THEN  -- else this is the first that is known
        PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, 0) + 100000)
        FROM pg_sequences WHERE schemaname = current_schema() AND data_type = 'bigint'::regtype;
    END IF;
    UPDATE organizations_installation SET timeline = here;
EXCEPTION WHEN feature_not_supported OR insufficient_privilege OR undefined_function THEN
    RETURN;  -- a service that calls itself PostgreSQL, and has no timelines
END $$;
"""
# The activity log only grows.
_APPEND_ONLY = """
CREATE FUNCTION activity_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the activity log is append-only: % is refused', TG_OP;
END $$;
CREATE TRIGGER activity_append_only BEFORE UPDATE OR DELETE ON activity_activity
    FOR EACH ROW EXECUTE FUNCTION activity_refuse_change();
CREATE TRIGGER activity_no_truncate BEFORE TRUNCATE ON activity_activity
    FOR EACH STATEMENT EXECUTE FUNCTION activity_refuse_change();
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                ("email", models.CharField(max_length=320, unique=True)),
                ("name", models.CharField(blank=True, max_length=200)),
                ("language", models.CharField(blank=True, default="", max_length=5)),
                ("is_active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
            ],
            options={
                "db_table": "members_user",
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("sha256", models.BinaryField(unique=True)),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("revoked_at", models.DateTimeField(null=True)),
                ("last_used_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Application",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "environment",
                    models.CharField(choices=[("sandbox", "Sandbox"), ("production", "Production")], max_length=10),
                ),
                ("name", models.CharField(max_length=200)),
                ("webhook_url", models.URLField(blank=True, max_length=2000)),
                ("webhook_secret_encrypted", models.BinaryField()),
                ("next_webhook_secret_encrypted", models.BinaryField(null=True)),
                ("next_webhook_secret_at", models.DateTimeField(null=True)),
                ("frame_origins", models.TextField(blank=True, db_default="", default="")),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
            ],
        ),
        migrations.CreateModel(
            name="BrandingProfile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                ("background_color", models.CharField(max_length=7)),
                ("text_color", models.CharField(max_length=7)),
                ("accent_color", models.CharField(max_length=7)),
                ("signature_only", models.BooleanField(db_default=False, default=False)),
                ("deleted_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Installation",
            fields=[
                ("id", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("secret_fingerprint", models.BinaryField()),
                ("secret_since", models.DateTimeField(null=True)),
                ("earlier_link_keys", models.JSONField(default=list)),
                ("timeline", models.BigIntegerField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Organization",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200)),
                (
                    "plan",
                    models.CharField(
                        choices=[("free", "Free"), ("pro", "Pro"), ("enterprise", "Enterprise")], max_length=10
                    ),
                ),
                ("refuse_changeable_documents", models.BooleanField(db_default=False, default=False)),
                ("mails_copy_links", models.BooleanField(db_default=True, default=True)),
                ("esign_disclosure", models.BooleanField(db_default=False, default=False)),
                ("contact_email", models.CharField(blank=True, db_default="", default="", max_length=320)),
                ("request_defaults", models.JSONField(null=True)),
                ("suspended_at", models.DateTimeField(null=True)),
                ("deleted_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
            ],
        ),
        migrations.CreateModel(
            name="KeyUsage",
            fields=[
                (
                    "key",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="usage",
                        serialize=False,
                        to="organizations.apikey",
                    ),
                ),
                ("hour", models.BigIntegerField()),
                ("calls", models.BigIntegerField()),
                ("calls_before", models.BigIntegerField()),
            ],
        ),
        migrations.AddField(
            model_name="apikey",
            name="application",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="keys", to="organizations.application"
            ),
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner"),
                            ("admin", "Admin"),
                            ("member", "Member"),
                            ("observer", "Observer"),
                        ],
                        max_length=10,
                    ),
                ),
                ("joined_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("last_seen_at", models.DateTimeField(null=True)),
                ("last_language", models.CharField(blank=True, db_default="", default="", max_length=5)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="organizations.organization",
                    ),
                ),
            ],
            options={
                "db_table": "members_member",
            },
        ),
        migrations.CreateModel(
            name="MonthlyCalls",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "organization_id",
                        "environment",
                        "month",
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
                ("month", models.DateField()),
                ("calls", models.BigIntegerField()),
                (
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="organizations.organization",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.CharField(max_length=320)),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner"),
                            ("admin", "Admin"),
                            ("member", "Member"),
                            ("observer", "Observer"),
                        ],
                        max_length=10,
                    ),
                ),
                ("secret_sha256", models.BinaryField(unique=True)),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("sent_at", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(null=True)),
                ("withdrawn_at", models.DateTimeField(null=True)),
                (
                    "invited_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="organizations.member",
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="organizations.organization",
                    ),
                ),
            ],
            options={
                "db_table": "members_invitation",
            },
        ),
        migrations.CreateModel(
            name="DailyCount",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "organization_id",
                        "environment",
                        "resource",
                        "day",
                        "status",
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
                ("resource", models.CharField(max_length=20)),
                ("day", models.DateField()),
                ("status", models.CharField(max_length=10)),
                ("count", models.BigIntegerField()),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="organizations.organization"
                    ),
                ),
            ],
            options={
                "db_table": "organizations_tally",
            },
        ),
        migrations.CreateModel(
            name="ConfirmedAddress",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.CharField(max_length=320)),
                ("asked_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("confirmed_at", models.DateTimeField(null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="confirmed_addresses",
                        to="organizations.organization",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="brandingprofile",
            name="organization",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="branding_profiles",
                to="organizations.organization",
            ),
        ),
        migrations.AddField(
            model_name="organization",
            name="web_application",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="organizations.application",
            ),
        ),
        migrations.AddField(
            model_name="application",
            name="organization",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="applications",
                to="organizations.organization",
            ),
        ),
        migrations.CreateModel(
            name="Logo",
            fields=[
                (
                    "profile",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="logo",
                        serialize=False,
                        to="organizations.brandingprofile",
                    ),
                ),
                ("object_key", models.CharField(max_length=200, unique=True)),
                ("sha256", models.BinaryField()),
                ("file_size", models.IntegerField()),
                ("width", models.SmallIntegerField()),
                ("height", models.SmallIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="Retention",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "organization_id", "environment", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "environment",
                    models.CharField(choices=[("sandbox", "Sandbox"), ("production", "Production")], max_length=10),
                ),
                ("days", models.IntegerField()),
                ("people_days", models.IntegerField(null=True)),
                ("people_forgotten", models.BigIntegerField(db_default=0, default=0)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="organizations.organization"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Storage",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "organization_id", "environment", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "environment",
                    models.CharField(choices=[("sandbox", "Sandbox"), ("production", "Production")], max_length=10),
                ),
                ("bytes", models.BigIntegerField()),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="organizations.organization"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Usage",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "organization_id", "environment", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "environment",
                    models.CharField(choices=[("sandbox", "Sandbox"), ("production", "Production")], max_length=10),
                ),
                ("minute", models.BigIntegerField()),
                ("minute_calls", models.BigIntegerField()),
                ("hour", models.BigIntegerField()),
                ("hour_calls", models.BigIntegerField()),
                ("month", models.DateField(null=True)),
                ("month_calls", models.BigIntegerField(db_default=0, default=0)),
                ("earlier_month", models.DateField(null=True)),
                ("earlier_calls", models.BigIntegerField(db_default=0, default=0)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="organizations.organization"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MutedMail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("completed", "Everyone has signed"),
                            ("asked", "A signer writes to you"),
                            ("declined", "A signer declines, which ends the request"),
                            ("expiring", "A request is about to expire (three days before, and one)"),
                            ("undelivered", "A message to a signer could not be delivered"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="muted_mails",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "members_mutedmail",
                "constraints": [models.UniqueConstraint(fields=("user", "kind"), name="muted_once")],
            },
        ),
        migrations.AddConstraint(
            model_name="member",
            constraint=models.UniqueConstraint(fields=("organization", "user"), name="member_once"),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("accepted_at", None), ("withdrawn_at", None)),
                fields=("organization", "email"),
                name="open_invitation_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="confirmedaddress",
            constraint=models.UniqueConstraint(fields=("organization", "address"), name="confirmed_address_once"),
        ),
        migrations.CreateModel(
            name="Operator",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("added_at", models.DateTimeField(default=paraph.kernel.clock.now)),
            ],
        ),
        migrations.CreateModel(
            name="Activity",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "actor_kind",
                    models.CharField(
                        choices=[
                            ("member", "Member"),
                            ("operator", "Operator"),
                            ("service", "Service"),
                            ("signer", "Signer"),
                            ("api", "Application"),
                        ],
                        max_length=10,
                    ),
                ),
                ("actor_id", models.BigIntegerField(null=True)),
                ("actor", models.CharField(blank=True, max_length=320)),
                ("ip", models.CharField(blank=True, max_length=45)),
                ("action", models.CharField(max_length=50)),
                ("subject", models.CharField(blank=True, max_length=200)),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                (
                    "organization",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="organizations.organization",
                    ),
                ),
            ],
            options={
                "db_table": "activity_activity",
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["organization", "id"], name="activity_in_order"),
                    models.Index(fields=["organization", "created_at", "id"], name="activity_by_time"),
                    models.Index(fields=["organization", "actor", "id"], name="activity_by_actor"),
                    models.Index(fields=["organization", "action", "id"], name="activity_by_action"),
                    models.Index(
                        condition=models.Q(("actor_kind", "operator")), fields=["id"], name="activity_operators"
                    ),
                ],
            },
        ),
        migrations.RunSQL(_COUNTERS),
        migrations.RunSQL(_CACHE),
        migrations.RunSQL(_COUNT),
        migrations.RunSQL(_STORE),
        migrations.RunSQL(_FOLLOW_TIMELINE),
        migrations.RunSQL(_APPEND_ONLY),
    ]
