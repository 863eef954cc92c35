import django.db.models.deletion
from django.db import migrations, models

import paraph.kernel.clock


class Migration(migrations.Migration):
    dependencies = [
        ("signature_requests", "0010_first_opening"),
    ]

    operations = [
        migrations.CreateModel(
            name="Inquiry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("question", "Question"), ("decline", "Decline"), ("not_me", "Not Me")], max_length=10
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
        ),
    ]
