from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("organizations", "0008_daily_count"),
    ]

    operations = [
        migrations.AddField(
            model_name="organization",
            name="contact_email",
            field=models.CharField(blank=True, db_default="", default="", max_length=320),
        ),
    ]
