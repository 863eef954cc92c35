"""Calls by key, in an unlogged table beside the calls by organization."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("organizations", "0014_web_sends")]

    operations = [
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
        migrations.RunSQL(
            "ALTER TABLE organizations_keyusage SET UNLOGGED, SET (fillfactor = 50);",
            migrations.RunSQL.noop,
        ),
    ]
