from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("messaging", "0003_message_counts"),
    ]

    operations = [
        migrations.AddField(
            model_name="capturedmessage",
            name="html",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]
