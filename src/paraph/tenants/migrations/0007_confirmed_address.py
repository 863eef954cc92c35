import django.db.models.deletion
from django.db import migrations, models

import paraph.kernel.clock


class Migration(migrations.Migration):
    dependencies = [
        ("organizations", "0006_storage"),
    ]

    operations = [
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
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "address"), name="confirmed_address_once")
                ],
            },
        ),
    ]
