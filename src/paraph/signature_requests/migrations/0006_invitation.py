from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("signature_requests", "0005_read")]
    operations = [migrations.AddField("signer", "invitation", models.JSONField(null=True))]
