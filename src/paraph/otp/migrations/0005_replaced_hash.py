from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("otp", "0004_refused_codes")]

    operations = [
        migrations.AddField(model_name="onetimecode", name="replaced_hash", field=models.BinaryField(null=True)),
    ]
