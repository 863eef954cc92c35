"""When a request was ended early, and since when its files are deleted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0013_locale_chosen")]

    operations = [
        migrations.AddField("signaturerequest", "ended_early_at", models.DateTimeField(null=True)),
        migrations.AddField("signaturerequest", "files_deleted_at", models.DateTimeField(null=True)),
    ]
