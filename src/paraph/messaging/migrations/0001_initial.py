import django.db.models.functions.text
import paraph.kernel.clock
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="PutOffMail",
            fields=[
                ("name", models.CharField(max_length=200, primary_key=True, serialize=False)),
                ("until", models.DateTimeField()),
                ("reason", models.CharField(max_length=200)),
            ],
        ),
        migrations.CreateModel(
            name="RefusedAddress",
            fields=[
                ("destination", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("answer", models.CharField(max_length=200)),
                ("at", models.DateTimeField(db_index=True, default=paraph.kernel.clock.now)),
            ],
        ),
        migrations.CreateModel(
            name="CapturedMessage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("to", models.CharField(max_length=320)),
                ("channel", models.CharField(max_length=5)),
                ("subject", models.CharField(blank=True, max_length=500)),
                ("text", models.TextField()),
                ("html", models.TextField(blank=True, db_default="", default="")),
                ("message_id", models.CharField(blank=True, db_collation="C", max_length=200)),
                ("created_at", models.DateTimeField(db_index=True, default=paraph.kernel.clock.now)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("message_id", ""), _negated=True),
                        fields=("message_id",),
                        name="captured_message_once",
                    )
                ],
                "indexes": [
                    models.Index(django.db.models.functions.text.Upper("to"), name="captured_message_by_address")
                ],
            },
        ),
    ]
