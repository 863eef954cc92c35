"""The activity log only grows: a trigger refuses UPDATE and DELETE of a row, and TRUNCATE of the table."""

import django.db.models.deletion
import paraph.kernel.clock
from django.db import migrations, models

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

    dependencies = [
        ("organizations", "0001_initial"),
    ]

    operations = [
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
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="organizations.organization"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["organization", "id"], name="activity_in_order"),
                    models.Index(fields=["organization", "created_at", "id"], name="activity_by_time"),
                    models.Index(fields=["organization", "actor", "id"], name="activity_by_actor"),
                    models.Index(fields=["organization", "action", "id"], name="activity_by_action"),
                ],
            },
        ),
        migrations.RunSQL(_APPEND_ONLY),
    ]
