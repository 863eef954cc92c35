"""What a member calls the request that they send. With a default in the database: the version before knows no title."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0020_what_waits")]

    operations = [
        migrations.AddField(
            "signaturerequest", "title", models.CharField(blank=True, db_default="", default="", max_length=200)
        )
    ]
