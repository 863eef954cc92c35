"""Which mails about their requests somebody does not want. A new table alone."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("members", "0003_invitation_resends")]

    operations = [
        migrations.CreateModel(
            name="MutedMail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("completed", "Everybody has signed"),
                            ("asked", "A signer asks something, or does not want to sign"),
                            ("expiring", "A request is about to expire (three days before, and one)"),
                            ("undelivered", "An invitation could not be delivered"),
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
            options={"constraints": [models.UniqueConstraint(fields=("user", "kind"), name="muted_once")]},
        )
    ]
