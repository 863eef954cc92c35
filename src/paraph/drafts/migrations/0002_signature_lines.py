from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("drafts", "0001_initial")]

    operations = [migrations.AddField("documenttags", "lines", models.JSONField(null=True))]
