"""Branding profiles can be deleted."""

import django.db.models.deletion
from django.db import migrations, models

import paraph.kernel.clock


class Migration(migrations.Migration):
    dependencies = [
        ("organizations", "0018_secret_rotation"),
    ]

    operations = [
        migrations.CreateModel(
            name="DeletedBrandingProfile",
            fields=[
                (
                    "profile",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="deletion",
                        serialize=False,
                        to="organizations.brandingprofile",
                    ),
                ),
                ("deleted_at", models.DateTimeField(default=paraph.kernel.clock.now)),
            ],
        ),
    ]
