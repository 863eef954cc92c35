"""Which mails the senders of requests are owed and have. A new table alone."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0022_search_titles")]

    operations = [
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
        )
    ]
