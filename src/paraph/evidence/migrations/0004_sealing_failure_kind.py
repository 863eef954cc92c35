from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evidence", "0003_timestamp_attempts"),
    ]

    operations = [
        migrations.AddField(
            model_name="sealingfailure",
            name="kind",
            field=models.CharField(db_default="", default="", max_length=12),
        ),
    ]
