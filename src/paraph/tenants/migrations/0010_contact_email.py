from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("organizations", "0009_copy_links"),
    ]

    operations = [
        migrations.AddField(
            model_name="organization",
            name="contact_email",
            field=models.CharField(blank=True, db_default="", default="", max_length=320),
        ),
    ]
