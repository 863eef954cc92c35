"""Events get their position from a trigger that runs last in their transaction: then, one after the other, they take
the row of their stream, and keep it until they are committed (docs/decisions/events.md)."""

import django.db.models.deletion
import paraph.kernel.clock
import uuid
from django.db import migrations, models

_PUBLISH = """
CREATE FUNCTION webhooks_publish() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    place bigint;
    moment timestamptz;
BEGIN
    INSERT INTO webhooks_eventstream AS stream (organization_id, environment, position, published_at)
    VALUES (NEW.organization_id, NEW.environment, 1, clock_timestamp())
    ON CONFLICT ON CONSTRAINT webhooks_eventstream_pkey DO UPDATE SET position = stream.position + 1,
        published_at = greatest(clock_timestamp(), stream.published_at + interval '1 microsecond')
    RETURNING stream.position, stream.published_at INTO place, moment;
    UPDATE webhooks_event SET position = place, published_at = moment WHERE entry_id = NEW.entry_id;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER event_published AFTER INSERT OR UPDATE OF held ON webhooks_event
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NOT NEW.held AND NEW.position IS NULL)
    EXECUTE FUNCTION webhooks_publish();
ALTER TABLE webhooks_eventstream SET (fillfactor = 50);
ALTER TABLE webhooks_delivery SET (fillfactor = 70);
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("journal", "0001_initial"),
        ("organizations", "0001_initial"),
        ("signature_requests", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "destination",
                    models.CharField(
                        choices=[("application", "Application"), ("callback", "Callback"), ("catcher", "Catcher")],
                        max_length=11,
                    ),
                ),
                ("url", models.CharField(max_length=2000)),
                ("endpoint", models.CharField(max_length=300)),
                ("event_type", models.CharField(max_length=30)),
                ("occurred_at", models.DateTimeField()),
                ("payload", models.TextField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("held", "On hold"),
                            ("waiting", "Waiting"),
                            ("delivered", "Delivered"),
                            ("failed", "Failed"),
                            ("caught", "Kept, not sent"),
                        ],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                ("failures", models.SmallIntegerField(default=0)),
                ("due_at", models.DateTimeField()),
                ("claimed_at", models.DateTimeField(null=True)),
                ("open_attempt", models.UUIDField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("trace", models.CharField(blank=True, db_default="", max_length=32)),
                (
                    "application",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="organizations.application",
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="journal.entry",
                    ),
                ),
                (
                    "request",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deliveries",
                        to="signature_requests.signaturerequest",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("started_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("duration_ms", models.IntegerField(null=True)),
                ("status_code", models.SmallIntegerField(null=True)),
                ("response", models.TextField(blank=True)),
                ("error", models.CharField(blank=True, max_length=500)),
                (
                    "delivery",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="attempts", to="webhooks.delivery"
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("status", "waiting")), fields=["endpoint", "due_at", "id"], name="delivery_live"
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(condition=models.Q(("status", "waiting")), fields=["due_at"], name="delivery_due"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("failures__gt", 0), ("status", "waiting")),
                fields=["endpoint"],
                name="delivery_troubled",
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("finished_at__isnull", False)), fields=["finished_at"], name="delivery_finished"
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(fields=["application", "occurred_at", "id"], name="delivery_of_application"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("status", "delivered"), _negated=True),
                fields=["application", "occurred_at", "id"],
                name="delivery_unfulfilled",
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(
                    ("status", "failed"),
                    models.Q(("failures__gt", 0), ("status", "waiting")),
                    _connector="OR",
                ),
                fields=["application", "id"],
                name="delivery_failing",
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("status", "caught")), fields=["application", "id"], name="delivery_caught"
            ),
        ),
        migrations.CreateModel(
            name="EventStream",
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
                ("position", models.BigIntegerField()),
                ("published_at", models.DateTimeField()),
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
            name="Event",
            fields=[
                (
                    "entry",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="journal.entry",
                    ),
                ),
                (
                    "environment",
                    models.CharField(choices=[("sandbox", "Sandbox"), ("production", "Production")], max_length=10),
                ),
                ("event_type", models.CharField(max_length=30)),
                ("payload", models.TextField()),
                ("held", models.BooleanField(default=False)),
                ("position", models.BigIntegerField(null=True)),
                ("published_at", models.DateTimeField(null=True)),
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
                    "request",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="signature_requests.signaturerequest",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("position__isnull", False)),
                        fields=["organization", "environment", "event_type", "position"],
                        name="event_of_type",
                    ),
                    models.Index(fields=["request", "position"], name="event_of_request"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("position__isnull", False)),
                        fields=("organization", "environment", "position"),
                        name="event_position",
                    )
                ],
            },
        ),
        migrations.RunSQL(_PUBLISH),
    ]
