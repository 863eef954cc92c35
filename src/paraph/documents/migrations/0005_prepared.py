"""The file that stands in for an upload which cannot be extended as it is."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("documents", "0004_unshown_pages")]
    operations = [
        migrations.AddField("document", "method", models.CharField(db_default="", default="", max_length=12)),
        migrations.AddField("document", "prepared_sha256", models.BinaryField(null=True)),
        migrations.AddField("document", "prepared_size", models.BigIntegerField(null=True)),
    ]
