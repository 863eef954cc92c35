from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("organizations", "0008_daily_count"),
    ]

    operations = [
        migrations.AddField(
            model_name="organization",
            name="mails_copy_links",
            field=models.BooleanField(db_default=True, default=True),
        ),
    ]
