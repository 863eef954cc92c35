"""When backups were made."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evidence", "0007_timelines")]
    operations = [
        migrations.CreateModel(
            "Backup",
            [
                ("id", models.BigAutoField(primary_key=True, auto_created=True, serialize=False, verbose_name="ID")),
                ("as_of", models.DateTimeField()),
                ("problems", models.IntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["as_of"], condition=models.Q(("problems", 0)), name="sound_backup"),
                ]
            },
        ),
    ]
