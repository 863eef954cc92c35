import paraph.kernel.clock
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="LogKey",
            fields=[
                ("id", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("origin", models.CharField(max_length=300)),
                ("private_encrypted", models.BinaryField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="LogEntry",
            fields=[
                ("index", models.BigIntegerField(primary_key=True, serialize=False)),
                ("sha256", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="LogNode",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "level", "index", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("level", models.SmallIntegerField()),
                ("index", models.BigIntegerField()),
                ("hash", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Checkpoint",
            fields=[
                ("size", models.BigIntegerField(primary_key=True, serialize=False)),
                ("note", models.TextField()),
                ("created_at", models.DateTimeField(default=paraph.kernel.clock.now)),
                ("published_at", models.DateTimeField(null=True)),
                ("token", models.BinaryField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("token__isnull", False)), fields=["size"], name="stamped_checkpoint"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="Cosigned",
            fields=[
                ("origin", models.CharField(max_length=300, primary_key=True, serialize=False)),
                ("size", models.BigIntegerField()),
                ("root", models.BinaryField()),
            ],
        ),
    ]
