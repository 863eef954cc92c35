from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("messaging", "0002_message_id"),
    ]

    operations = [
        migrations.CreateModel(
            name="MessageCount",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "scope", "seconds", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("scope", models.CharField(max_length=80)),
                ("seconds", models.IntegerField()),
                ("began_at", models.DateTimeField()),
                ("asked", models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name="PutOffMail",
            fields=[
                ("name", models.CharField(max_length=200, primary_key=True, serialize=False)),
                ("until", models.DateTimeField()),
                ("reason", models.CharField(max_length=200)),
            ],
        ),
        migrations.RunSQL(
            "ALTER TABLE messaging_messagecount SET UNLOGGED, SET (fillfactor = 50);",
            migrations.RunSQL.noop,
        ),
    ]
