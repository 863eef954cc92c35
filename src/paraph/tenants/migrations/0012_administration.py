"""Suspension, deletion and retention of organizations, and rotation of webhook secrets, whose columns
``webhooks.0007_next_webhook_secret`` makes: each migration holds one table."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("organizations", "0011_frame_origins")]

    operations = [
        migrations.AddField("organization", "suspended_at", models.DateTimeField(null=True)),
        migrations.AddField("organization", "deleted_at", models.DateTimeField(null=True)),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddField("application", "next_webhook_secret_encrypted", models.BinaryField(null=True)),
                migrations.AddField("application", "next_webhook_secret_at", models.DateTimeField(null=True)),
            ]
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
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="organizations.organization"
                    ),
                ),
            ],
        ),
    ]
