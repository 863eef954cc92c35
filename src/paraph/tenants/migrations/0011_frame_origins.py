from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("organizations", "0010_contact_email"),
    ]

    operations = [
        migrations.AddField(
            model_name="application",
            name="frame_origins",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]
